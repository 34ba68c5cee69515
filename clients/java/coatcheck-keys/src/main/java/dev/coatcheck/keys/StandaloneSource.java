package dev.coatcheck.keys;

import dev.coatcheck.core.key.KeyReservation;
import dev.coatcheck.core.key.Positions;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keys of a worker that nobody leases, by the machine's clock. Times are Unix milliseconds.
 *
 * <p>Positions only rise, whatever the clock does, so no key is made twice here. The clock policy
 * decides how far the time of keys may be from the clock's.
 */
final class StandaloneSource implements KeySource {
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long RETRY_AFTER_CLOSE_MILLIS = 1_000;

  /** The logical clock runs at half speed, so that the machine's clock catches up. */
  private static final long LOGICAL_NANOS_PER_MILLI = 2 * NANOS_PER_MILLI;

  private final SnowflakeLayout layout;
  private final int worker;
  private final ClockPolicy policy;
  private final long waitMillisMax;
  private final long logicalMillisMax;
  private final @Nullable MarkFile file;
  private final LongSupplier wallMillis;
  private final LongSupplier nanos;
  private final Positions positions;
  private volatile boolean isClosed;

  /** The latest time of any key. */
  private final AtomicLong latest;

  // The logical clock: it stood at logicalBase when the monotonic one stood at logicalNano.
  private long logicalBase = Long.MIN_VALUE;
  private long logicalNano;
  private long logicalLast = Long.MIN_VALUE;

  StandaloneSource(
      SnowflakeLayout layout,
      int worker,
      ClockPolicy policy,
      @Nullable MarkFile file,
      LongSupplier wallMillis,
      LongSupplier nanos) {
    this.layout = layout;
    this.worker = worker;
    this.policy = policy;
    this.waitMillisMax = policy.waitMax().toMillis();
    this.logicalMillisMax = policy.logicalMax().toMillis();
    this.file = file;
    this.wallMillis = wallMillis;
    this.nanos = nanos;
    long mark = file == null ? Long.MIN_VALUE : file.millis();
    this.latest = new AtomicLong(mark);
    this.positions = new Positions(mark == Long.MIN_VALUE ? -1 : layout.positionFrom(mark + 1) - 1);
  }

  /** The time for a key now, or {@link #NONE_NOW} or {@link #NONE}. */
  private long time() {
    if (isClosed) {
      return NONE;
    }
    // In this order: a clock that is read after the time of a key is behind it only if it stepped.
    long last = latest.get();
    long wall = wallMillis.getAsLong();
    long time = wall >= last ? wall : behind(wall, last);
    if (time >= 0 && file != null && !file.covers(time)) {
      file.extend(time);
    }
    return time;
  }

  private long behind(long wall, long last) {
    long step = last - wall;
    if (step <= waitMillisMax) {
      return NONE_NOW;
    }
    return step <= logicalMillisMax ? logical(last) : NONE;
  }

  private synchronized long logical(long last) {
    long now = nanos.getAsLong();
    if (last != logicalLast) {
      logicalBase = last;
      logicalNano = now;
    }
    long logical = logicalBase + (now - logicalNano) / LOGICAL_NANOS_PER_MILLI;
    logicalLast = Math.max(last, logical);
    raise(logicalLast);
    return logicalLast;
  }

  private void raise(long time) {
    long last = latest.get();
    while (time > last && !latest.compareAndSet(last, time)) {
      last = latest.get();
    }
  }

  @Override
  public long key() {
    long time = time();
    if (time < 0) {
      return time;
    }
    long position = positions.reserveOne(layout.position(time), layout.positionFrom(time + 1));
    if (position == Positions.NONE) {
      return NONE_NOW;
    }
    raise(time);
    return layout.key(position, worker);
  }

  @Override
  public KeyReservation reserve(int count) {
    long time = time();
    if (time < 0) {
      return refusal(time);
    }
    Positions.Run run =
        positions.reserve(count, layout.position(time), layout.positionFrom(time + 1));
    if (run.count() == 0) {
      return new KeyReservation.Wait("every key of this millisecond is taken", layout.tickMillis());
    }
    raise(time);
    return new KeyReservation.Some(run, worker);
  }

  private KeyReservation refusal(long why) {
    if (isClosed) {
      return new KeyReservation.Never("these keys are closed", RETRY_AFTER_CLOSE_MILLIS);
    }
    long step = Math.max(1, latest.get() - wallMillis.getAsLong());
    String reason =
        "the machine's clock is %d ms behind the last key (clock policy %s: waits for %d ms, continues for %d ms)"
            .formatted(step, policy.name(), waitMillisMax, logicalMillisMax);
    return why == NONE_NOW
        ? new KeyReservation.Wait(reason, step)
        : new KeyReservation.Never(reason, Math.max(1, step - logicalMillisMax));
  }

  @Override
  public void awaitFirst() {
    // The clock is always there.
  }

  @Override
  public void close() {
    isClosed = true;
    long last = positions.close();
    if (file != null) {
      file.close(last < 0 ? latest.get() : Math.max(latest.get(), layout.millisOf(last)));
    }
  }
}
