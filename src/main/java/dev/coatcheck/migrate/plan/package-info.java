/** What a run would do to a table, what it takes, and whether the table is still as planned. */
@NullMarked
package dev.coatcheck.migrate.plan;

import org.jspecify.annotations.NullMarked;
