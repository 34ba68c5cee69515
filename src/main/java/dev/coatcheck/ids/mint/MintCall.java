package dev.coatcheck.ids.mint;

import dev.coatcheck.ids.idempotency.IdempotentCall;
import java.util.List;
import java.util.Optional;

/**
 * What one caller wants minted, in one transaction.
 *
 * @param requests 1 to {@value #REQUESTS_MAX}
 * @param atomic whether one refused request means that nothing is done
 * @param once set if the caller may send it again
 */
public record MintCall(
    List<MintRequest> requests, boolean atomic, Optional<IdempotentCall<MintOutcome.Worked>> once) {
  public static final int REQUESTS_MAX = 1_000;

  public MintCall {
    requests = List.copyOf(requests);
    if (requests.isEmpty() || requests.size() > REQUESTS_MAX) {
      throw new IllegalArgumentException("requests: " + requests.size());
    }
  }

  public static MintCall of(MintRequest request) {
    return new MintCall(List.of(request), false, Optional.empty());
  }

  /** Many requests that don't depend on one another. */
  public static MintCall batch(List<MintRequest> requests) {
    return new MintCall(requests, false, Optional.empty());
  }

  /** A batch has a transaction of its own; single requests share theirs. */
  boolean isBatch() {
    return requests.size() > 1 || atomic;
  }

  /** Whether another call may be about to write what this one wants to. */
  boolean bringsNames() {
    return once.isPresent() || requests.stream().anyMatch(MintRequest::isNamed);
  }

  /** Whether names have to be looked up before anything is written. */
  boolean looksFirst() {
    return atomic || requests.stream().anyMatch(request -> !request.aliases().isEmpty());
  }
}
