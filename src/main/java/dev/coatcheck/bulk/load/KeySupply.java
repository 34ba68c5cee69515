package dev.coatcheck.bulk.load;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.key.DatedKeys;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyDraw;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.ids.registry.Type;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.function.Function;

/** New keys for the rows of a chunk that bring none, drawn before its transaction. */
final class KeySupply {
  private final Map<Integer, Queue<Key>> byType;
  private final Map<Long, Key> datedByLine;

  private KeySupply(Map<Integer, Queue<Key>> byType, Map<Long, Key> datedByLine) {
    this.byType = byType;
    this.datedByLine = datedByLine;
  }

  /** For rows that all bring their key. */
  static KeySupply none() {
    return new KeySupply(Map.of(), Map.of());
  }

  /** The drawn keys, or why there are none now. */
  sealed interface Drawn {
    record Ready(KeySupply keys) implements Drawn {}

    record Refused(KeyDraw.NoKeys why) implements Drawn {}
  }

  /**
   * Draws one for each row without a key: at most {@link Chunk#LINES_MAX}, which one draw gives.
   * The keys of rows that say when they were created carry that time, where the type has a source
   * of such keys.
   */
  static Drawn draw(
      List<ImportRow> rows,
      Function<Type, KeyGenerator> generators,
      Function<Type, Optional<DatedKeys>> datedKeys) {
    Map<Type, Integer> wanted = new HashMap<>();
    Map<Type, List<ImportRow>> dated = new HashMap<>();
    for (ImportRow row : rows) {
      if (row.key() == null) {
        if (row.isDated()) {
          dated.computeIfAbsent(row.type(), _ -> new ArrayList<>()).add(row);
        } else {
          wanted.merge(row.type(), 1, Integer::sum);
        }
      }
    }
    Map<Long, Key> datedByLine = new HashMap<>();
    for (var group : dated.entrySet()) {
      Optional<DatedKeys> source = datedKeys.apply(group.getKey());
      if (source.isEmpty()) {
        wanted.merge(group.getKey(), group.getValue().size(), Integer::sum);
      } else if (draw(source.get(), group.getKey(), group.getValue(), datedByLine)
          instanceof KeyDraw.NoKeys why) {
        return new Drawn.Refused(why);
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
    return new Drawn.Ready(new KeySupply(byType, datedByLine));
  }

  private static KeyDraw draw(
      DatedKeys source, Type type, List<ImportRow> rows, Map<Long, Key> byLine) {
    // A row from before the layout's epoch gets one of its first keys.
    Instant epoch = Instant.ofEpochMilli(type.keyTimes().orElseThrow().epochMillis());
    rows.sort(Comparator.comparing(ImportRow::createdAt));
    KeyDraw draw =
        source.at(
            rows.stream()
                .map(row -> row.createdAt().isBefore(epoch) ? epoch : row.createdAt())
                .mapToLong(Instant::toEpochMilli)
                .toArray());
    if (draw instanceof KeyDraw.Drawn(List<Key> keys)) {
      for (int i = 0; i < rows.size(); i++) {
        byLine.put(rows.get(i).line(), keys.get(i));
      }
    }
    return draw;
  }

  /** The same keys again, for a transaction that is run again. */
  KeySupply copy() {
    Map<Integer, Queue<Key>> copies = HashMap.newHashMap(byType.size());
    byType.forEach((type, keys) -> copies.put(type, new ArrayDeque<>(keys)));
    return new KeySupply(copies, datedByLine);
  }

  /** The key of a row that brings none. */
  Key next(ImportRow row) {
    Key dated = datedByLine.get(row.line());
    return dated != null ? dated : requireNonNull(byType.get(row.type().number())).remove();
  }
}
