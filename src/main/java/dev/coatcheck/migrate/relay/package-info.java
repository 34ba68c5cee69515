/** What brings mappings from a source to the gateway: outboxes, and single rows for look-ups. */
@NullMarked
package dev.coatcheck.migrate.relay;

import org.jspecify.annotations.NullMarked;
