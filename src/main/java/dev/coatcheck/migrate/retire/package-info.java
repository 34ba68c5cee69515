/** The end of what a run keeps in its source: the triggers after the last phase, the archive. */
@NullMarked
package dev.coatcheck.migrate.retire;

import org.jspecify.annotations.NullMarked;
