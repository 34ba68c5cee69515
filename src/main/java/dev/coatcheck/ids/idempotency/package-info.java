/** Requests that may be sent again: one key, one answer. */
@NullMarked
package dev.coatcheck.ids.idempotency;

import org.jspecify.annotations.NullMarked;
