package dev.coatcheck.ids.redirect;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.redirect.LegacyHits.TypeDay;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Counts who looks up legacy IDs and finds something: the most frequent API keys, user agents,
 * referring hosts and address ranges, per type and UTC day, so that owners know whom to ask before
 * a sunset. Counts are kept in memory and added to the table every ten seconds and at shutdown: a
 * kill loses the last seconds, and a commit with an unknown outcome may count twice.
 *
 * <p><b>Memory.</b> An instance has {@link #COUNTERS_MAX} counters, with texts of up to 200
 * characters: 20 MB at most, and next to none as long as few callers come. The table keeps {@link
 * #ROWS_MAX} callers per type, day and kind.
 *
 * <p><b>Errors.</b> Where more callers come than there is room for, counts are estimates by {@link
 * SpaceSaving}, in memory and in the table: of {@code n} look-ups per type, day and kind each count
 * is wrong by {@code 3n}/{@value #ROWS_MAX} at most, by {@code 5n}/{@value #ROWS_MAX} in an outage
 * of Postgres, and by more once the counters are used up. The answer says by how much.
 */
public final class LegacyCallers implements AutoCloseable {
  /** Callers that are kept of a type, a day and a kind. */
  static final int ROWS_MAX = 1_000;

  /** Of all types and kinds together, about 500 bytes each. */
  static final int COUNTERS_MAX = 40_000;

  private static final Duration PERIOD = Duration.ofSeconds(10);

  /** The most types and days kept while Postgres is away; look-ups beyond that are lost. */
  private static final int PENDING_MAX = 10_000;

  private final LegacyCallerStore store;
  private final Background background;
  private final InstantSource clock;
  private final SpaceSaving.Budget budget;
  private final int pendingMax;

  /** In the order in which two instances write, so that neither waits for the other for long. */
  private final TreeMap<TypeDay, Map<CallerKind, SpaceSaving>> pending = new TreeMap<>();

  private final ReentrantLock flushing = new ReentrantLock();

  LegacyCallers(
      LegacyCallerStore store,
      Observer observer,
      InstantSource clock,
      SpaceSaving.Budget budget,
      int pendingMax) {
    this.store = store;
    this.background = new Background("legacy-callers", observer);
    this.clock = clock;
    this.budget = budget;
    this.pendingMax = pendingMax;
  }

  public static LegacyCallers open(Database database, Observer observer, InstantSource clock) {
    LegacyCallers callers =
        new LegacyCallers(
            new LegacyCallerStore(database),
            observer,
            clock,
            new SpaceSaving.Budget(COUNTERS_MAX),
            PENDING_MAX);
    callers.background.every(PERIOD, callers::write);
    return callers;
  }

  /**
   * One caller.
   *
   * @param count its look-ups
   * @param error by how much the count can be too high or too low
   */
  public record Caller(String text, long count, long error) {}

  /**
   * The callers of one kind, the most frequent ones first.
   *
   * @param count the look-ups of all callers
   */
  public record Callers(CallerKind kind, long count, List<Caller> top) {}

  /**
   * Who looked up legacy IDs from the first day to the last, both inclusive; of all instances, as
   * of some seconds ago.
   *
   * @param limit how many callers of each kind, 1 to {@value #ROWS_MAX}
   * @throws DatabaseUnavailable if Postgres can't be asked
   */
  public List<Callers> of(
      Type type, LocalDate first, LocalDate last, Set<CallerKind> kinds, int limit) {
    return store.of(type.number(), first, last, kinds, limit);
  }

  /** Counts look-ups of one caller that found something. */
  void count(int typeNumber, LegacyCaller caller, int times) {
    Map<CallerKind, String> texts = new EnumMap<>(CallerKind.class);
    for (CallerKind kind : CallerKind.values()) {
      texts.put(kind, caller.text(kind));
    }
    add(
        new TypeDay(typeNumber, LocalDate.ofInstant(clock.instant(), ZoneOffset.UTC)),
        texts,
        times);
  }

  private synchronized void add(TypeDay key, Map<CallerKind, String> texts, int times) {
    Map<CallerKind, SpaceSaving> sketches = pending.get(key);
    if (sketches == null) {
      if (pending.size() >= pendingMax) {
        return;
      }
      sketches = new EnumMap<>(CallerKind.class);
      pending.put(key, sketches);
    }
    for (Map.Entry<CallerKind, String> text : texts.entrySet()) {
      sketches
          .computeIfAbsent(text.getKey(), _ -> new SpaceSaving(ROWS_MAX, budget))
          .add(text.getValue(), times);
    }
  }

  /** Adds the counts to the table, or keeps them for the next time. */
  void flush() {
    boolean _ = background.run(this::write);
  }

  private void write() {
    flushing.lock();
    try {
      for (TypeDay key : keys()) {
        Map<CallerKind, SpaceSaving> taken = take(key);
        try {
          store.add(key, taken);
        } catch (RuntimeException failed) {
          putBack(key, taken);
          throw failed;
        }
        free(taken);
      }
    } finally {
      flushing.unlock();
    }
  }

  private synchronized List<TypeDay> keys() {
    return List.copyOf(pending.keySet());
  }

  private synchronized Map<CallerKind, SpaceSaving> take(TypeDay key) {
    return requireNonNull(pending.remove(key));
  }

  private synchronized void free(Map<CallerKind, SpaceSaving> written) {
    written.values().forEach(SpaceSaving::free);
  }

  /** Adds what came meanwhile, which is little, so that errors don't add up over an outage. */
  private synchronized void putBack(TypeDay key, Map<CallerKind, SpaceSaving> taken) {
    Map<CallerKind, SpaceSaving> younger = pending.put(key, taken);
    if (younger != null) {
      for (Map.Entry<CallerKind, SpaceSaving> each : younger.entrySet()) {
        requireNonNull(taken.get(each.getKey())).addAll(each.getValue());
        each.getValue().free();
      }
    }
  }

  @Override
  public void close() {
    background.stop();
    Deadline.ofLastWrite().run(this::flush);
  }
}
