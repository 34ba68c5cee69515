/** What a run puts on a table, step by step, and the backfill that gives old rows their keys. */
@NullMarked
package dev.coatcheck.migrate.table;

import org.jspecify.annotations.NullMarked;
