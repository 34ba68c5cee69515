package dev.coatcheck.bulk.load;

import dev.coatcheck.ids.mint.MintRequest;
import java.time.Instant;

/**
 * A valid row.
 *
 * @param isDated whether the row says when it was created; a generated key carries that time then
 */
record ImportRow(long line, MintRequest request, Instant createdAt, boolean isDated) {}
