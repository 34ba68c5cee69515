package dev.coatcheck.bulk.load;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyDraw;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.ids.registry.Type;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.function.Function;

/** New keys for the rows of a chunk that bring none, drawn before its transaction. */
final class KeySupply {
  private final Map<Integer, Queue<Key>> byType;

  private KeySupply(Map<Integer, Queue<Key>> byType) {
    this.byType = byType;
  }

  /** For rows that all bring their key. */
  static KeySupply none() {
    return new KeySupply(Map.of());
  }

  /** The drawn keys, or why there are none now. */
  sealed interface Drawn {
    record Ready(KeySupply keys) implements Drawn {}

    record Refused(KeyDraw.NoKeys why) implements Drawn {}
  }

  /**
   * Draws one for each row without a key: at most {@link Chunk#LINES_MAX}, which one draw gives.
   */
  static Drawn draw(List<ImportRow> rows, Function<Type, KeyGenerator> generators) {
    Map<Type, Integer> wanted = new HashMap<>();
    for (ImportRow row : rows) {
      if (row.key() == null) {
        wanted.merge(row.type(), 1, Integer::sum);
      }
    }
    Map<Integer, Queue<Key>> byType = new HashMap<>();
    for (var want : wanted.entrySet()) {
      switch (generators.apply(want.getKey()).next(want.getValue())) {
        case KeyDraw.Drawn drawn ->
            byType.put(want.getKey().number(), new ArrayDeque<>(drawn.keys()));
        case KeyDraw.NoKeys why -> {
          return new Drawn.Refused(why);
        }
      }
    }
    return new Drawn.Ready(new KeySupply(byType));
  }

  /** The same keys again, for a transaction that is run again. */
  KeySupply copy() {
    Map<Integer, Queue<Key>> copies = HashMap.newHashMap(byType.size());
    byType.forEach((type, keys) -> copies.put(type, new ArrayDeque<>(keys)));
    return new KeySupply(copies);
  }

  Key next(Type type) {
    return requireNonNull(byType.get(type.number())).remove();
  }
}
