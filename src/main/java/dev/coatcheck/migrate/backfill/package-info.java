/** The keys of old rows: in batches, ahead of them for a look-up, and from the archive. */
@NullMarked
package dev.coatcheck.migrate.backfill;

import org.jspecify.annotations.NullMarked;
