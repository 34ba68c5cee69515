package dev.coatcheck.ids.mint;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.mapping.SealedRows;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Mints sealed public IDs that get no alias, without Postgres: there is no row to write. */
final class SealedMints {
  private final Function<Type, KeyGenerator> keys;
  private final SealedRows rows;
  private final Observer observer;
  private final InstantSource clock;

  SealedMints(
      Function<Type, KeyGenerator> keys, SealedRows rows, Observer observer, InstantSource clock) {
    this.clock = clock;
    this.keys = keys;
    this.rows = rows;
    this.observer = observer;
  }

  /**
   * Mints all requests of a call; empty, and nothing is done, if one of them needs Postgres.
   *
   * @throws dev.coatcheck.core.seal.SealKeyMissing if this instance lacks a seal key
   */
  Optional<MintOutcome> mint(MintCall call) {
    IdentityHashMap<Type, Integer> generated = new IdentityHashMap<>();
    for (MintRequest request : call.requests()) {
      if (request.type().isRetired()
          || request.type().sealing().isEmpty()
          || !request.aliases().isEmpty()
          || (request.key().isPresent() && !isWithoutRow(request))) {
        return Optional.empty();
      }
      if (request.key().isEmpty()) {
        generated.merge(request.type(), 1, Integer::sum);
      }
    }
    Instant now = clock.instant();
    if (generated.keySet().stream().anyMatch(type -> !type.sealing().orElseThrow().sealsAt(now))) {
      return Optional.empty(); // before a key is drawn that would be lost
    }
    IdentityHashMap<Type, Iterator<Key>> drawn = new IdentityHashMap<>();
    for (Map.Entry<Type, Integer> wanted : generated.entrySet()) {
      Type type = wanted.getKey();
      switch (keys.apply(type).next(wanted.getValue())) {
        case KeyOutcome.Drawn(List<Key> some) -> {
          // The first is the oldest. The generator's clock may be just behind ours.
          if (type.sealingOf(some.getFirst()).isEmpty()) {
            return Optional.empty();
          }
          drawn.put(type, some.iterator());
        }
        case KeyOutcome.NoKeys why -> {
          return Optional.of(new MintOutcome.KeysUnavailable(why));
        }
      }
    }
    return Optional.of(minted(call, drawn));
  }

  private boolean isWithoutRow(MintRequest request) {
    return request
        .key()
        .flatMap(key -> StoredMapping.sealed(request.type(), key))
        .filter(mapping -> rows.haveNone(mapping.id()))
        .isPresent();
  }

  private MintOutcome minted(MintCall call, IdentityHashMap<Type, Iterator<Key>> drawn) {
    List<MintOutcome.Item> items = new ArrayList<>(call.requests().size());
    Map<String, int[]> counts = new HashMap<>();
    for (MintRequest request : call.requests()) {
      Type type = request.type();
      boolean isCreated = request.key().isEmpty();
      Key key = request.key().orElseGet(() -> requireNonNull(drawn.get(type)).next());
      items.add(
          new MintOutcome.Ticket(
              StoredMapping.sealed(type, key).orElseThrow().of(type), isCreated));
      counts.computeIfAbsent(type.name(), _ -> new int[2])[isCreated ? 0 : 1]++;
    }
    counts.forEach((name, each) -> observer.observe(new Event.Minted(name, each[0], each[1])));
    return new MintOutcome.Minted(items);
  }
}
