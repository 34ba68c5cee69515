package dev.coatcheck.mapping;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.key.Key;
import dev.coatcheck.key.KeyDraw;
import dev.coatcheck.key.KeyGenerator;
import dev.coatcheck.observe.Event;
import dev.coatcheck.observe.Observer;
import dev.coatcheck.registry.Type;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Creates public IDs. The answer is given after the commit. One (type, key) has one public ID,
 * whoever asks and however often: the unique constraints settle every race.
 */
public final class Minter {
  public static final int REQUESTS_MAX = 1_000;
  private static final int DRAWS_MAX = 8;

  private final MappingStore store;
  private final Function<Type, KeyGenerator> keys;
  private final Observer observer;

  Minter(MappingStore store, Function<Type, KeyGenerator> keys, Observer observer) {
    this.store = store;
    this.keys = keys;
    this.observer = observer;
  }

  /**
   * Mints for all requests in one transaction.
   *
   * @param requests 1 to {@value #REQUESTS_MAX}
   * @throws dev.coatcheck.db.DatabaseUnavailable if the outcome is unknown; asking again with the
   *     same keys settles it
   */
  public MintOutcome mint(List<MintRequest> requests) {
    if (requests.isEmpty() || requests.size() > REQUESTS_MAX) {
      throw new IllegalArgumentException("requests: " + requests.size());
    }
    MintOutcome.Ticket[] tickets = new MintOutcome.Ticket[requests.size()];
    Deque<Integer> open = new ArrayDeque<>();
    for (int i = 0; i < tickets.length; i++) {
      open.add(i);
    }
    for (int draw = 0; !open.isEmpty(); draw++) {
      if (draw == DRAWS_MAX) {
        throw new IllegalStateException("generated keys were taken " + DRAWS_MAX + " times");
      }
      List<Integer> round = List.copyOf(open);
      open.clear();
      switch (withKeys(requests, round)) {
        case Keyed.Refused(MintOutcome.KeysUnavailable refusal) -> {
          return refusal;
        }
        case Keyed.Ready(Map<Integer, Key> keyed) ->
            mintRound(requests, keyed, tickets).forEach(open::add);
      }
    }
    count(tickets);
    return new MintOutcome.Minted(List.of(tickets));
  }

  /** Fills the tickets of one round; returns the requests whose generated key was taken. */
  private List<Integer> mintRound(
      List<MintRequest> requests, Map<Integer, Key> keyed, MintOutcome.Ticket[] tickets) {
    Map<Integer, Subject> subjects = LinkedHashMap.newLinkedHashMap(keyed.size());
    Map<Subject, Integer> first = LinkedHashMap.newLinkedHashMap(keyed.size());
    keyed.forEach(
        (i, key) -> {
          Subject subject = Subject.of(requests.get(i).type(), key);
          subjects.put(i, subject);
          first.putIfAbsent(subject, i);
        });
    Map<Subject, MappingStore.Settled> settled = store.settle(List.copyOf(first.keySet()));
    List<Integer> taken = new ArrayList<>();
    subjects.forEach(
        (i, subject) -> {
          MintRequest request = requests.get(i);
          MappingStore.Settled row = requireNonNull(settled.get(subject));
          boolean created = row.created() && i.equals(first.get(subject));
          if (!created && request.key().isEmpty()) {
            observer.observe(
                new Event.GeneratedKeyConflict(request.type().name(), subject.key().text()));
            taken.add(i);
          } else {
            tickets[i] = new MintOutcome.Ticket(row.mapping().of(request.type()), created);
          }
        });
    return taken;
  }

  private sealed interface Keyed {
    record Ready(Map<Integer, Key> keys) implements Keyed {}

    record Refused(MintOutcome.KeysUnavailable refusal) implements Keyed {}
  }

  private Keyed withKeys(List<MintRequest> requests, List<Integer> round) {
    Map<Integer, Key> keyed = new LinkedHashMap<>();
    Map<KeyGenerator, List<Integer>> wanting = new HashMap<>();
    for (int i : round) {
      MintRequest request = requests.get(i);
      request
          .key()
          .ifPresentOrElse(
              key -> keyed.put(i, key),
              () ->
                  wanting
                      .computeIfAbsent(keys.apply(request.type()), _ -> new ArrayList<>())
                      .add(i));
    }
    for (var want : wanting.entrySet()) {
      switch (want.getKey().next(want.getValue().size())) {
        case KeyDraw.Refused(String reason, long retryAfterMillis) -> {
          return new Keyed.Refused(new MintOutcome.KeysUnavailable(reason, retryAfterMillis));
        }
        case KeyDraw.Drawn drawn -> {
          for (int i = 0; i < want.getValue().size(); i++) {
            keyed.put(want.getValue().get(i), drawn.keys().get(i));
          }
        }
      }
    }
    return new Keyed.Ready(keyed);
  }

  private void count(MintOutcome.Ticket[] tickets) {
    Map<String, int[]> byType = new HashMap<>();
    for (MintOutcome.Ticket ticket : tickets) {
      int[] counts = byType.computeIfAbsent(ticket.mapping().type().name(), _ -> new int[2]);
      counts[ticket.created() ? 0 : 1]++;
    }
    byType.forEach((type, c) -> observer.observe(new Event.Minted(type, c[0], c[1])));
  }
}
