/** The work on a source during a run: outboxes, single rows for look-ups, new names. */
@NullMarked
package dev.coatcheck.migrate.relay;

import org.jspecify.annotations.NullMarked;
