/** Requests that may be repeated: one Idempotency-Key, one response. */
@NullMarked
package dev.coatcheck.ids.idempotency;

import org.jspecify.annotations.NullMarked;
