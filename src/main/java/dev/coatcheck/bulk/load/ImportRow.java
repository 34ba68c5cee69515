package dev.coatcheck.bulk.load;

import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;

/**
 * A valid row.
 *
 * @param isDated whether the row says when it was created; a generated key carries that time then
 */
record ImportRow(long line, MintRequest request, Instant createdAt, boolean isDated) {
  /** The same row, of a type that has changed. */
  ImportRow of(Type now) {
    return new ImportRow(
        line,
        new MintRequest(now, request.key(), request.aliases(), request.token()),
        createdAt,
        isDated);
  }
}
