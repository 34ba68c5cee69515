/**
 * The work on a source while a run is on a table: outboxes, single rows for look-ups, new names.
 */
@NullMarked
package dev.coatcheck.migrate.relay;

import org.jspecify.annotations.NullMarked;
