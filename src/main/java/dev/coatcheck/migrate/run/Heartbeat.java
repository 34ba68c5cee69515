package dev.coatcheck.migrate.run;

import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.migrate.run.LeaseTable.Claim;
import dev.coatcheck.migrate.run.LeaseTable.Orders;
import dev.coatcheck.migrate.source.Throttle;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.table.Checkpoint;
import dev.coatcheck.postgres.session.LockWait;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Renews a runner's lease, writes its progress, and reads the goal and the throttle settings. Once
 * the lease is gone, or the goal or the extent of an undo has changed, {@link #requireMine} tells
 * the runner, which calls it between any two batches.
 */
final class Heartbeat implements AutoCloseable {
  static final int LEASE_MILLIS = 3_000;
  private static final Duration PERIOD = Duration.ofMillis(500);
  private static final int SLICE_MILLIS = 50;

  /** One sample of the load in five seconds. */
  private static final int BEATS_A_SAMPLE = 10;

  private final LeaseTable leases;
  private final LongSupplier nanoTime;
  private final Claim claim;
  private final TableMigration.Status asked;
  private final Background beats;
  private final AtomicLong workedMillis = new AtomicLong();
  private volatile Optional<Checkpoint.Counts> counts = Optional.empty();
  private volatile Optional<String> reason = Optional.empty();
  private volatile Optional<LockWait> wait = Optional.empty();
  private volatile Optional<Throttle.Load> load = Optional.empty();
  private volatile ThrottleSettings throttleSettings;
  private volatile boolean mine = true;
  private volatile long leaseEndNano;
  private int beatsToSample;

  Heartbeat(
      LeaseTable leases,
      Claim claim,
      TableMigration run,
      Observer observer,
      LongSupplier nanoTime) {
    this.leases = leases;
    this.nanoTime = nanoTime;
    this.claim = claim;
    this.asked = run.status();
    this.throttleSettings = run.throttleSettings();
    this.leaseEndNano = nanoTime() + TimeUnit.MILLISECONDS.toNanos(LEASE_MILLIS);
    this.beats = new Background("table-migration-beat", observer);
    beats.every(PERIOD, this::beat);
  }

  /** The runner has to stop: the run was stopped, or another runner has it. */
  static final class Stopped extends RuntimeException {
    Stopped() {
      super("another instance continues the run", null, false, false);
    }
  }

  Claim claim() {
    return claim;
  }

  /** The clock that leases and work are measured by. */
  long nanoTime() {
    return nanoTime.getAsLong();
  }

  ThrottleSettings throttleSettings() {
    return throttleSettings;
  }

  /** Whether this runner still has the run. */
  boolean isMine() {
    return mine && leaseEndNano - nanoTime() > 0;
  }

  /**
   * Returns if this runner still has the run.
   *
   * @throws Stopped if not
   */
  void requireMine() {
    if (!isMine()) {
      throw new Stopped();
    }
  }

  /** Waits, but not beyond the end of the lease. */
  void pause(long millis) {
    long end = nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = millis; left > 0; ) {
      requireMine();
      try {
        Thread.sleep(Math.min(left, SLICE_MILLIS));
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        throw new Stopped();
      }
      left = TimeUnit.NANOSECONDS.toMillis(end - nanoTime());
    }
    requireMine();
  }

  /** How far the backfill has come. */
  void counted(Checkpoint.Counts now) {
    counts = Optional.of(now);
  }

  /** What the throttle saw of the source. */
  void loaded(Optional<Throttle.Load> now) {
    load = now;
  }

  /** Time that counts as worked, also if it was spent keeping to a rate. */
  void worked(long millis) {
    workedMillis.addAndGet(millis);
  }

  /** Sets the reason to wait, or none. True if the reason is new: a change of figures is not. */
  boolean because(Optional<String> why) {
    boolean isNews =
        !why.map(Heartbeat::withoutFigures).equals(reason.map(Heartbeat::withoutFigures));
    reason = why;
    return isNews;
  }

  /** Sets what the run waits for in the source, or nothing. From any thread. */
  void waitsFor(Optional<LockWait> now) {
    wait = now;
  }

  private static String withoutFigures(String why) {
    return why.replaceAll("[0-9]+", "0");
  }

  /** Records the progress now. */
  synchronized void beat() {
    long sentNano = nanoTime();
    long worked = workedMillis.getAndSet(0);
    try {
      Optional<Orders> orders = leases.renew(claim, LEASE_MILLIS, counts, worked, reason, wait);
      if (orders.isEmpty() || !orders.get().areOf(asked)) {
        mine = false;
        return;
      }
      throttleSettings = orders.get().throttleSettings();
      leaseEndNano = sentNano + TimeUnit.MILLISECONDS.toNanos(LEASE_MILLIS);
      sample();
    } catch (DatabaseUnavailable gone) {
      // The lease runs out by itself if this lasts.
      workedMillis.addAndGet(worked);
    }
  }

  /** Only while the backfill works: the other steps have no pace. */
  private void sample() {
    if (load.isPresent() && beatsToSample-- <= 0) {
      beatsToSample = BEATS_A_SAMPLE - 1;
      leases.sample(claim, load.get());
    }
  }

  @Override
  public void close() {
    beats.stop();
  }
}
