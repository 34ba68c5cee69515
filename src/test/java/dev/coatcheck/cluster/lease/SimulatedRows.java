package dev.coatcheck.cluster.lease;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/**
 * The lease table in memory, statement for statement what {@link WorkerLeaseStore} does in SQL;
 * {@code SimulatedRowsTest} compares the two.
 */
final class SimulatedRows {
  record Row(long epoch, long grantedUntil, long restUntil, long expires, long timeline) {}

  private record Saved(long atNanos, List<Row> rows) {}

  private static final long HISTORY_NANOS = 2_000_000_000L;

  private final LeaseSettings settings;
  private final Defect defect;
  private final Deque<Saved> history = new ArrayDeque<>();
  private List<Row> rows;
  private long timeline = 1;

  SimulatedRows(LeaseSettings settings, Defect defect) {
    this.settings = settings;
    this.defect = defect;
    this.rows =
        new ArrayList<>(Collections.nCopies(settings.lastWorker() + 1, new Row(0, 0, 0, 0, 1)));
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
    return free.isEmpty()
        ? new LeaseReply.NoneFree("none")
        : acquire(free.get(random.nextInt(free.size())), now);
  }

  /**
   * The first half of an acquire: rows of an older timeline begin to rest, the free ones remain.
   */
  List<Integer> free(long now) {
    List<Integer> free = new ArrayList<>();
    for (int worker = 0; worker < rows.size(); worker++) {
      Row row = rows.get(worker);
      if (row.timeline != timeline) {
        rest(worker, now);
      } else if (row.grantedUntil < now && row.expires <= now && row.restUntil <= now) {
        free.add(worker);
      }
    }
    return free;
  }

  LeaseReply acquire(int worker, long now) {
    Row row = rows.get(worker);
    long until = now + settings.windowMillis();
    long expires = now + LeaseSettings.LEASE_MILLIS;
    rows.set(worker, new Row(row.epoch + 1, until, row.restUntil, expires, timeline));
    return new LeaseReply.Acquired(worker, row.epoch + 1, now, until);
  }

  private void rest(int worker, long now) {
    Row row = rows.get(worker);
    long rest = Math.max(row.restUntil, now + settings.restMillis());
    rows.set(worker, new Row(row.epoch, row.grantedUntil, rest, row.expires, timeline));
  }

  private LeaseReply renew(LeaseRequest.Renew renew, long now) {
    Row row = rows.get(renew.worker());
    if (row.timeline != timeline) {
      for (int worker = 0; worker < rows.size(); worker++) {
        if (worker != renew.worker() && rows.get(worker).timeline != timeline) {
          rest(worker, now);
        }
      }
    }
    boolean matches = row.epoch == renew.epoch() && row.grantedUntil <= renew.untilMillis();
    if ((!matches && defect != Defect.RENEW_WITHOUT_EPOCH) || row.expires <= now) {
      return new LeaseReply.Gone();
    }
    long until = Math.max(renew.untilMillis(), now + settings.windowMillis());
    long rest =
        row.timeline == timeline
            ? row.restUntil
            : Math.max(row.restUntil, now + settings.restMillis());
    long expires = now + LeaseSettings.LEASE_MILLIS;
    rows.set(renew.worker(), new Row(row.epoch, until, rest, expires, timeline));
    return new LeaseReply.Renewed(now, until);
  }

  private LeaseReply release(LeaseRequest.Release release, long now) {
    Row row = rows.get(release.worker());
    if (row.epoch == release.epoch()) {
      rows.set(
          release.worker(),
          new Row(row.epoch + 1, row.grantedUntil, row.restUntil, now, row.timeline));
    }
    return new LeaseReply.Released();
  }

  void set(int worker, Row row) {
    rows.set(worker, row);
  }

  Row row(int worker) {
    return rows.get(worker);
  }

  /** Keeps the state for a standby that lags. */
  void save(long atNanos) {
    history.addLast(new Saved(atNanos, List.copyOf(rows)));
    while (history.getFirst().atNanos < atNanos - HISTORY_NANOS && history.size() > 1) {
      history.removeFirst();
    }
  }

  /** Promotes a standby that has seen everything up to {@code seenNanos} and nothing after. */
  void failOver(long seenNanos) {
    for (Saved saved : history) {
      if (saved.atNanos <= seenNanos) {
        rows = new ArrayList<>(saved.rows);
      }
    }
    history.clear();
    timeline++;
  }
}
