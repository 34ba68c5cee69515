package dev.coatcheck.migrate.film;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.film.FilmRental.Table;
import dev.coatcheck.migrate.primarykey.Ledger;
import dev.coatcheck.migrate.run.MigrationFixture;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What was acknowledged to the application of a film rental. */
final class FilmLedger {
  private static final int HOT_ROWS = 20;

  private final Map<Table, Map<Long, String>> notes = new EnumMap<>(Table.class);
  private final Map<Table, Ledger> keys = new EnumMap<>(Table.class);
  private final Map<Table, Map<Long, Long>> counters = new EnumMap<>(Table.class);

  /** Notes of rows whose IDs the application was not told. */
  private final Set<String> copied = ConcurrentHashMap.newKeySet();

  private final Set<Long> payments = ConcurrentHashMap.newKeySet();
  private final MigrationFixture source;

  private FilmLedger(MigrationFixture source) {
    this.source = source;
  }

  /** With all rows that are there. */
  static FilmLedger of(MigrationFixture source) {
    FilmLedger ledger = new FilmLedger(source);
    for (Table table : Table.values()) {
      ledger.notes.put(table, new ConcurrentHashMap<>(ledger.read(table)));
      ledger.counters.put(table, new ConcurrentHashMap<>());
      ledger.keys.put(table, Ledger.of(source, table.text, table.key));
    }
    ledger.payments.addAll(source.column("select id from payment"));
    return ledger;
  }

  /** The rows that a worker may change, and those that all may. Not for several threads. */
  final class Share {
    private final Map<Table, List<Long>> own = new EnumMap<>(Table.class);
    private final Map<Table, List<Long>> made = new EnumMap<>(Table.class);
    private final Map<Table, List<Long>> gone = new EnumMap<>(Table.class);
    private final Map<Table, List<Long>> seeded = new EnumMap<>(Table.class);
    private final Random random;

    private Share(int worker, int workers, Random random) {
      this.random = random;
      for (Table table : Table.values()) {
        List<Long> ids = notes.get(table).keySet().stream().sorted().toList();
        own.put(table, new ArrayList<>(ids.stream().filter(id -> id % workers == worker).toList()));
        made.put(table, new ArrayList<>());
        gone.put(table, new ArrayList<>());
        seeded.put(table, ids);
      }
    }

    /** A row that no other worker changes. */
    long own(Table table) {
      return any(own.get(table));
    }

    /** A row of the first days, which only a rental may lose. */
    long seeded(Table table) {
      return any(seeded.get(table));
    }

    /** One of a few rows that every worker wants. */
    long hot(Table table) {
      return any(seeded.get(table).subList(0, HOT_ROWS));
    }

    /** A row of its own that nothing refers to. */
    Long made(Table table) {
      return made.get(table).isEmpty() ? null : any(made.get(table));
    }

    /** The ID of a row of its own that is no more, else one that is. */
    long goneOrOwn(Table table) {
      return gone.get(table).isEmpty() ? own(table) : any(gone.get(table));
    }

    void wrote(Table table, long id, String note) {
      if (notes.get(table).put(id, note) == null) {
        own.get(table).add(id);
        made.get(table).add(id);
        gone.get(table).remove(id);
      }
    }

    void deleted(Table table, long id) {
      notes.get(table).remove(id);
      own.get(table).remove(id);
      made.get(table).remove(id);
      gone.get(table).add(id);
    }

    void counted(Table table, long id) {
      counters.get(table).merge(id, 1L, Long::sum);
    }

    void copied(List<String> lines) {
      copied.addAll(lines);
    }

    void paid(long id) {
      payments.add(id);
    }

    void unpaid(List<Long> ids) {
      ids.forEach(payments::remove);
    }

    private long any(List<Long> ids) {
      return ids.get(random.nextInt(ids.size()));
    }
  }

  Share share(int worker, int workers, Random random) {
    return new Share(worker, workers, random);
  }

  /** Writes down every key that a row has now. */
  void noteKeys() {
    keys.values().forEach(Ledger::note);
  }

  /** What was acknowledged is there, and nothing else. */
  void requireNothingLost() {
    for (Table table : Table.values()) {
      Map<Long, String> there = read(table);
      Map<Long, String> known = new HashMap<>(notes.get(table));
      Set<String> unseen = new HashSet<>();
      if (table == Table.CUSTOMER) {
        unseen.addAll(copied);
        there
            .entrySet()
            .removeIf(row -> !known.containsKey(row.getKey()) && unseen.remove(row.getValue()));
      }
      assertThat(unseen).as("copied rows of %s that are lost", table.text).isEmpty();
      assertThat(there).as("rows of %s", table.text).isEqualTo(known);
      String counter = counter(table);
      if (!counter.isEmpty()) {
        Map<Long, Long> counted = new HashMap<>();
        source
            .texts(
                "select %s || ' ' || %s from %s where %s > 0"
                    .formatted(table.key, counter, table.text, counter))
            .forEach(
                row -> {
                  int space = row.indexOf(' ');
                  counted.put(
                      Long.valueOf(row.substring(0, space)),
                      Long.valueOf(row.substring(space + 1)));
                });
        assertThat(counted).as("%s of %s", counter, table.text).isEqualTo(counters.get(table));
      }
    }
    assertThat(Set.copyOf(source.column("select id from payment"))).isEqualTo(payments);
  }

  void requireKeys() {
    keys.values().forEach(Ledger::requireKeys);
  }

  void requireOrder() {
    keys.values().forEach(Ledger::requireOrder);
  }

  /** The key of each row by its legacy ID. */
  Map<Table, Map<Long, Long>> keys() {
    Map<Table, Map<Long, Long>> keys = new EnumMap<>(Table.class);
    for (Table table : Table.values()) {
      keys.put(table, source.keys(table.text, table.key));
    }
    return keys;
  }

  private static String counter(Table table) {
    return switch (table) {
      case CUSTOMER -> "visits";
      case FILM -> "rentals_count";
      case RENTAL -> "";
    };
  }

  private Map<Long, String> read(Table table) {
    Map<Long, String> rows = new HashMap<>();
    source
        .texts("select %s || ' ' || note from %s".formatted(table.key, table.text))
        .forEach(
            row -> {
              int end = row.indexOf(' ');
              rows.put(Long.valueOf(row.substring(0, end)), row.substring(end + 1));
            });
    return rows;
  }
}
