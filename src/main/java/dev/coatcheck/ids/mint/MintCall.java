package dev.coatcheck.ids.mint;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.group.GroupCommit;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The mints of one caller, in one transaction.
 *
 * @param requests up to {@value #REQUESTS_MAX}; none to get or store the answer of a refused call
 * @param atomic whether one refused request means that nothing is done
 * @param once set if the call has an Idempotency-Key
 */
public record MintCall(
    List<MintRequest> requests, boolean atomic, Optional<IdempotentCall<MintOutcome.Worked>> once)
    implements GroupCommit.Call {
  public static final int REQUESTS_MAX = 1_000;

  public MintCall {
    requests = List.copyOf(requests);
    if (requests.size() > REQUESTS_MAX || (requests.isEmpty() && once.isEmpty())) {
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

  /** The same with its types as they are. */
  MintCall with(UnaryOperator<Type> current) {
    IdentityHashMap<Type, Type> types = new IdentityHashMap<>();
    requests.forEach(request -> types.computeIfAbsent(request.type(), current));
    return types.entrySet().stream()
            .allMatch(each -> each.getKey().version() == each.getValue().version())
        ? this
        : new MintCall(
            requests.stream()
                .map(request -> request.of(requireNonNull(types.get(request.type()))))
                .toList(),
            atomic,
            once);
  }

  /**
   * Whether one statement can write everything: each request is for a new key, all in one table.
   */
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

  /** A repeated mint would report as found what it created itself. */
  @Override
  public boolean isRepeatable() {
    return false;
  }

  /** Whether names have to be looked up before anything is written. */
  boolean looksFirst() {
    return atomic
        || requests.stream()
            .anyMatch(
                request ->
                    request.type().isRetired()
                        || !request.aliases().isEmpty()
                        || request.bringsSealedKey()
                        || request.bringsClosedKey());
  }

  /**
   * The locks of its names. A batch takes none for its items: it would block every other caller
   * that brings one of them. Only a key of a closed era always has one, because no unique rule
   * holds a pinned row and a stored one of the same key.
   */
  List<Long> locks() {
    List<Long> locks = new ArrayList<>();
    once.ifPresent(each -> locks.add(each.key().lock()));
    if (!isBatch()) {
      requests.forEach(request -> locks.addAll(request.locks()));
    } else {
      requests.stream()
          .filter(MintRequest::bringsClosedKey)
          .map(request -> MintRequest.keyLock(request.type(), request.key().orElseThrow()))
          .forEach(locks::add);
    }
    return locks;
  }
}
