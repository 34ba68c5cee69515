package dev.coatcheck.bench.footprint;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.bench.footprint.KeyOrderStore.Inserted;
import dev.coatcheck.bench.machine.MeasureFailed;
import dev.coatcheck.bench.report.Goal;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.bench.report.Samples;
import dev.coatcheck.bench.speed.Measure;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.UuidV7;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * P17: what the order of keys costs. Rows go into tables whose index is four times the shared
 * buffers: keys that rise all go to its last page, random keys to any page, which has to be read,
 * written back, and after each checkpoint logged as a whole.
 */
public final class KeyOrder {
  /** Small buffers let a small index be four times as large. */
  static final int BUFFERS_MEGABYTES = 16;

  private static final int ROWS_A_ROUND = 50_000;
  private static final int ROWS_A_STATEMENT = 1_000;
  private static final Goal RATE_MIN = Goal.ratioAtLeast(3);
  private static final Goal WAL_MAX = Goal.ratioAtMost(0.4);

  private final KeyOrderStore store;
  private final UuidV7 uuidV7 = new UuidV7();

  /** Of the one worker of this measure: the first that was not filled in. */
  private long position;

  private KeyOrder(KeyOrderStore store) {
    this.store = store;
    this.position = SnowflakeLayout.DEFAULT.position(System.currentTimeMillis());
  }

  /** Measures in turns, on a new cluster. */
  public static List<Row> measure(Path home, int rounds) {
    try {
      try (EmbeddedDatabase database = EmbeddedDatabase.start(home)) {
        new KeyOrderStore(database).shrinkBuffers(BUFFERS_MEGABYTES);
      }
      try (EmbeddedDatabase database = EmbeddedDatabase.start(home)) {
        return new KeyOrder(new KeyOrderStore(database)).measure(rounds);
      }
    } catch (UnusableDatabase failed) {
      throw new MeasureFailed(String.valueOf(failed.getMessage()));
    }
  }

  private List<Row> measure(int rounds) {
    for (KeyKind kind : KeyKind.values()) {
      store.fill(kind, 4L * BUFFERS_MEGABYTES);
    }
    Map<KeyKind, List<Inserted>> taken = new EnumMap<>(KeyKind.class);
    for (int round = 0; round <= rounds; round++) {
      for (KeyKind kind : KeyKind.values()) {
        Inserted inserted = store.insert(kind, statements(kind));
        if (round > 0) { // the first finds the pages in which the table was made
          taken.computeIfAbsent(kind, _ -> new ArrayList<>()).add(inserted);
        }
      }
    }
    List<Row> rows = new ArrayList<>();
    for (KeyKind kind : List.of(KeyKind.SNOWFLAKE, KeyKind.UUIDV7)) {
      String name = Measure.P17 + " " + kind.text();
      String what = Measure.P17.what() + ", " + kind.text();
      rows.add(
          new Row(
              name,
              what,
              "rows a second",
              false,
              rates(taken, kind),
              Optional.of(new Row.Baseline("UUIDv4", rates(taken, KeyKind.UUIDV4))),
              Optional.of(RATE_MIN)));
      rows.add(
          new Row(
              name + " WAL",
              what,
              "bytes a row",
              true,
              wal(taken, kind),
              Optional.of(new Row.Baseline("UUIDv4", wal(taken, KeyKind.UUIDV4))),
              Optional.of(WAL_MAX)));
    }
    return rows;
  }

  private static Samples rates(Map<KeyKind, List<Inserted>> taken, KeyKind kind) {
    return new Samples(
        requireNonNull(taken.get(kind)).stream()
            .map(each -> ROWS_A_ROUND / each.seconds())
            .toList());
  }

  private static Samples wal(Map<KeyKind, List<Inserted>> taken, KeyKind kind) {
    return new Samples(
        requireNonNull(taken.get(kind)).stream()
            .map(each -> (double) each.walBytes() / ROWS_A_ROUND)
            .toList());
  }

  /** New keys, as texts, in the order in which they were made. */
  private List<List<String>> statements(KeyKind kind) {
    return IntStream.range(0, ROWS_A_ROUND / ROWS_A_STATEMENT).mapToObj(_ -> keys(kind)).toList();
  }

  private List<String> keys(KeyKind kind) {
    return switch (kind) {
      case SNOWFLAKE ->
          IntStream.range(0, ROWS_A_STATEMENT)
              .mapToObj(_ -> Long.toString(SnowflakeLayout.DEFAULT.key(position++, 1)))
              .toList();
      case UUIDV7 ->
          ((KeyOutcome.Drawn) uuidV7.next(ROWS_A_STATEMENT))
              .keys().stream().map(key -> key.text()).toList();
      case UUIDV4 ->
          IntStream.range(0, ROWS_A_STATEMENT).mapToObj(_ -> UUID.randomUUID().toString()).toList();
    };
  }
}
