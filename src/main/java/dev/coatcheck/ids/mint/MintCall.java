package dev.coatcheck.ids.mint;

import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.postgres.group.GroupCommit;
import java.util.ArrayList;
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
    List<MintRequest> requests, boolean atomic, Optional<IdempotentCall<MintOutcome.Worked>> once)
    implements GroupCommit.Call {
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

  /** Whether one statement does it all: each request is for one new key of the same table. */
  static boolean areOneInsert(List<MintCall> calls) {
    return calls.stream().noneMatch(MintCall::bringsNames)
        && calls.stream()
                .flatMap(call -> call.requests().stream())
                .map(request -> request.type().keyKind())
                .distinct()
                .limit(2)
                .count()
            == 1;
  }

  @Override
  public boolean isBatch() {
    return requests.size() > 1 || atomic;
  }

  @Override
  public boolean bringsNames() {
    return once.isPresent() || requests.stream().anyMatch(MintRequest::isNamed);
  }

  /** Done before, it would say that it found what it made. */
  @Override
  public boolean isRepeatable() {
    return false;
  }

  /** Whether names have to be looked up before anything is written. */
  boolean looksFirst() {
    return atomic || requests.stream().anyMatch(request -> !request.aliases().isEmpty());
  }

  /**
   * The locks of its names. A batch takes none for its items: it would hold up everybody who brings
   * one of them.
   */
  List<Long> locks() {
    List<Long> locks = new ArrayList<>();
    once.ifPresent(each -> locks.add(each.key().lock()));
    if (!isBatch()) {
      locks.addAll(requests.getFirst().locks());
    }
    return locks;
  }
}
