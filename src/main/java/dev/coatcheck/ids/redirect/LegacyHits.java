package dev.coatcheck.ids.redirect;

import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts the look-ups of legacy IDs that found something, per type and UTC day, so that owners can
 * tell whether a sunset is safe. Counts are kept in memory and added to the table every five
 * seconds and at shutdown: a kill loses the last seconds, and a commit with an unknown outcome may
 * count twice.
 */
public final class LegacyHits implements AutoCloseable {
  private static final Duration PERIOD = Duration.ofSeconds(5);

  /**
   * The most types and days kept while Postgres is away, which one statement adds; counts beyond
   * that are lost.
   */
  private static final int PENDING_MAX = 10_000;

  private final LegacyHitStore store;
  private final Background background;
  private final InstantSource clock;
  private final Map<TypeDay, Long> pending = new ConcurrentHashMap<>();

  LegacyHits(LegacyHitStore store, Observer observer, InstantSource clock) {
    this.store = store;
    this.background = new Background("legacy-hits", observer);
    this.clock = clock;
  }

  public static LegacyHits open(Database database, Observer observer, InstantSource clock) {
    LegacyHits hits = new LegacyHits(new LegacyHitStore(database), observer, clock);
    hits.background.every(PERIOD, hits::add);
    return hits;
  }

  /** The look-ups of one day. */
  public record DayCount(LocalDate day, long count) {}

  record TypeDay(int typeNumber, LocalDate day) implements Comparable<TypeDay> {
    @Override
    public int compareTo(TypeDay other) {
      return typeNumber == other.typeNumber
          ? day.compareTo(other.day)
          : Integer.compare(typeNumber, other.typeNumber);
    }
  }

  public LocalDate today() {
    return LocalDate.ofInstant(clock.instant(), ZoneOffset.UTC);
  }

  /**
   * The days from {@code first} to {@code last}, both inclusive, that have any, in order; of all
   * instances, as of some seconds ago.
   *
   * @throws DatabaseUnavailable if Postgres can't be asked
   */
  public List<DayCount> of(Type type, LocalDate first, LocalDate last) {
    return store.of(type.number(), first, last);
  }

  /**
   * As {@link #of}, of all types, by their numbers.
   *
   * @throws DatabaseUnavailable if Postgres can't be asked
   */
  public Map<Integer, List<DayCount>> ofAll(LocalDate first, LocalDate last) {
    return store.ofAll(first, last);
  }

  void count(Type type) {
    TypeDay key = new TypeDay(type.number(), today());
    if (pending.size() < PENDING_MAX || pending.containsKey(key)) {
      pending.merge(key, 1L, Long::sum);
    }
  }

  /** Adds the counts to the table, or keeps them for the next time. */
  void flush() {
    boolean _ = background.run(this::add);
  }

  private synchronized void add() {
    // In the order of the keys, so that two instances don't wait for each other.
    TreeMap<TypeDay, Long> taken = new TreeMap<>();
    for (TypeDay key : List.copyOf(pending.keySet())) {
      Long count = pending.remove(key);
      if (count != null) {
        taken.put(key, count);
      }
    }
    if (taken.isEmpty()) {
      return;
    }
    try {
      store.add(taken);
    } catch (RuntimeException failed) {
      taken.forEach((key, count) -> pending.merge(key, count, Long::sum));
      throw failed;
    }
  }

  @Override
  public void close() {
    background.stop();
    Deadline.ofLastWrite().run(this::flush);
  }
}
