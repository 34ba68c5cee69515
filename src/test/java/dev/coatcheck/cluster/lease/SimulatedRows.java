package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.WorkerUses;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;

/**
 * The lease table in memory, statement for statement what {@link WorkerLeaseStore} does in SQL;
 * {@code SimulatedRowsTest} compares the two.
 */
final class SimulatedRows {
  /** The life of a database: a promotion begins another timeline, a restore another system. */
  record Life(long system, long timeline) {
    static final Life FIRST = new Life(1, 1);
  }

  record Row(long epoch, long grantedUntil, long restUntil, long expires, Life life) {}

  /** A worker without a row is not registered. */
  private record Saved(long atNanos, Life life, Map<Integer, Row> rows) {}

  private static final long HISTORY_NANOS = 40_000_000_000L;

  private final LeaseSettings settings;
  private final Defect defect;
  private final Deque<Saved> history = new ArrayDeque<>();
  private Map<Integer, Row> rows = new TreeMap<>();
  private Life life;
  private long systems = 1;

  SimulatedRows(LeaseSettings settings, Defect defect, Life life) {
    this.settings = settings;
    this.defect = defect;
    this.life = life;
    save(0);
  }

  /**
   * How long acquires rest after a failover. A standby may have missed a grant whose window is
   * still open, on a clock that differs from the old primary's by up to 12 s. The database measures
   * by the longest window that was ever set.
   */
  private long restMillis() {
    return settings.windowMillis() + LeaseSettings.REST_BEYOND_WINDOW_MILLIS;
  }

  LeaseReply execute(LeaseRequest request, long now, Random random) {
    return switch (request) {
      case LeaseRequest.Acquire _ -> acquire(now, random);
      case LeaseRequest.Renew renew -> renew(renew, now);
      case LeaseRequest.Release release -> release(release, now);
    };
  }

  private LeaseReply acquire(long now, Random random) {
    List<Integer> free = free(now);
    if (free.isEmpty() && register(now)) {
      free = free(now);
    }
    return free.isEmpty() ? noneFree(now) : acquire(free.get(random.nextInt(free.size())), now);
  }

  /** The first half of an acquire: stale rows begin to rest, the free ones remain. */
  List<Integer> free(long now) {
    List<Integer> free = new ArrayList<>();
    rows.forEach(
        (worker, row) -> {
          if (stale(row)) {
            rest(worker, now);
          } else if (row.grantedUntil < now && row.expires <= now && row.restUntil <= now) {
            free.add(worker);
          }
        });
    return free;
  }

  /** Whether any worker was registered. */
  boolean register(long now) {
    boolean neverLost = life.equals(Life.FIRST) || defect == Defect.REGISTERED_WITHOUT_REST;
    int before = rows.size();
    for (int worker = settings.firstWorker(); worker <= settings.lastWorker(); worker++) {
      if (WorkerUses.isLeased(settings.layout(), worker)) {
        long restUntil = neverLost ? 0 : now + restMillis();
        rows.putIfAbsent(worker, new Row(0, 0, restUntil, 0, life));
      }
    }
    return rows.size() > before;
  }

  LeaseReply.NoneFree noneFree(long now) {
    long freeAt =
        rows.values().stream()
            .mapToLong(row -> Math.max(row.grantedUntil + 1, Math.max(row.restUntil, row.expires)))
            .min()
            .orElseThrow();
    return new LeaseReply.NoneFree("none", freeAt - now);
  }

  private boolean stale(Row row) {
    return defect == Defect.SYSTEM_IGNORED
        ? row.life.timeline != life.timeline
        : !row.life.equals(life);
  }

  LeaseReply acquire(int worker, long now) {
    Row row = row(worker);
    long until = now + settings.windowMillis();
    long expires = now + LeaseSettings.LEASE_MILLIS;
    rows.put(worker, new Row(row.epoch + 1, until, row.restUntil, expires, life));
    return new LeaseReply.Acquired(worker, row.epoch + 1, now, until);
  }

  private void rest(int worker, long now) {
    Row row = row(worker);
    long rest = Math.max(row.restUntil, now + restMillis());
    rows.put(worker, new Row(row.epoch, row.grantedUntil, rest, row.expires, life));
  }

  private LeaseReply renew(LeaseRequest.Renew renew, long now) {
    if (!rows.containsKey(renew.worker())) {
      return new LeaseReply.Gone();
    }
    Row row = row(renew.worker());
    if (stale(row)) {
      for (int worker : List.copyOf(rows.keySet())) {
        if (worker != renew.worker() && stale(row(worker))) {
          rest(worker, now);
        }
      }
    }
    boolean matches = row.epoch == renew.epoch() && row.grantedUntil <= renew.untilMillis();
    if ((!matches && defect != Defect.RENEW_WITHOUT_EPOCH) || row.expires <= now) {
      return new LeaseReply.Gone();
    }
    long until = Math.max(renew.untilMillis(), now + settings.windowMillis());
    long rest = stale(row) ? Math.max(row.restUntil, now + restMillis()) : row.restUntil;
    long expires = now + LeaseSettings.LEASE_MILLIS;
    rows.put(renew.worker(), new Row(row.epoch, until, rest, expires, life));
    return new LeaseReply.Renewed(now, until);
  }

  private LeaseReply release(LeaseRequest.Release release, long now) {
    rows.computeIfPresent(
        release.worker(),
        (_, row) ->
            row.epoch == release.epoch()
                ? new Row(row.epoch + 1, row.grantedUntil, row.restUntil, now, row.life)
                : row);
    return new LeaseReply.Released();
  }

  void set(int worker, Row row) {
    rows.put(worker, row);
  }

  /** Of a worker that is registered. */
  Row row(int worker) {
    return Objects.requireNonNull(rows.get(worker));
  }

  boolean isRegistered(int worker) {
    return rows.containsKey(worker);
  }

  /** Keeps the state for a standby that lags. */
  void save(long atNanos) {
    history.addLast(new Saved(atNanos, life, new TreeMap<>(rows)));
    while (history.getFirst().atNanos < atNanos - HISTORY_NANOS && history.size() > 1) {
      history.removeFirst();
    }
  }

  /**
   * Promotes a standby that has seen everything up to {@code seenNanos} and nothing after, or
   * restores what it has seen on another system. A standby that has not seen the last promotion
   * begins a timeline of the same number.
   */
  void failOver(long seenNanos, boolean toAnotherSystem) {
    Saved seen = history.getFirst();
    for (Saved saved : history) {
      seen = saved.atNanos <= seenNanos ? saved : seen;
    }
    rows = new TreeMap<>(seen.rows);
    life =
        toAnotherSystem
            ? new Life(++systems, 1)
            : new Life(seen.life.system, seen.life.timeline + 1);
  }
}
