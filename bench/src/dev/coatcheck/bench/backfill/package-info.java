/** The speed of a table migration, against plain statements. */
@NullMarked
package dev.coatcheck.bench.backfill;

import org.jspecify.annotations.NullMarked;
