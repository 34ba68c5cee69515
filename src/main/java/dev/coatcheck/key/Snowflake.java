package dev.coatcheck.key;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Snowflake keys of one fixed worker on the wall clock, for use without Postgres. Unique as long as
 * no one else runs as the same worker and the clock does not step back across a restart.
 */
public final class Snowflake implements KeyGenerator {
  private static final long NANOS_PER_MILLI = 1_000_000L;
  private static final long PAUSE_NANOS = 100_000L;
  private static final long WAIT_MILLIS_MAX = 50;

  private final SnowflakeLayout layout;
  private final int worker;
  private final ClockPolicy policy;
  private final LongSupplier wallMillis;
  private final Pause pause;
  private final Positions positions = new Positions();
  private final AtomicLong highestMillis = new AtomicLong(Long.MIN_VALUE);

  public Snowflake(SnowflakeLayout layout, int worker) {
    this(layout, worker, ClockPolicy.THREE_TIERS, System::currentTimeMillis, Pause.PARK);
  }

  public Snowflake(
      SnowflakeLayout layout,
      int worker,
      ClockPolicy policy,
      LongSupplier wallMillis,
      Pause pause) {
    this.layout = layout;
    this.worker = layout.checkedWorker(worker);
    this.policy = policy;
    this.wallMillis = wallMillis;
    this.pause = pause;
  }

  @Override
  public KeyDraw next(int count) {
    return KeyRun.draw(KeyGenerator.checked(count), chunk(), layout, this::run);
  }

  /** The longest run that leaves the next draw within the waiting tier. */
  private long chunk() {
    return (policy.waitMillisMax() - 1) << layout.sequenceBits();
  }

  private KeyRun run(int count) {
    long waited = 0;
    while (true) {
      long now = wallMillis.getAsLong();
      long step = highestMillis.accumulateAndGet(now, Math::max) - now;
      if (step > policy.logicalMillisMax()) {
        return new KeyRun.None(
            "the clock stepped back by %d ms, more than %d ms"
                .formatted(step, policy.logicalMillisMax()),
            step - policy.logicalMillisMax());
      }
      long first = reserve(count, now, step);
      if (first != Positions.FULL) {
        return new KeyRun.Some(first, worker);
      }
      if (waited >= WAIT_MILLIS_MAX * NANOS_PER_MILLI) {
        return new KeyRun.None("no room after %d ms".formatted(WAIT_MILLIS_MAX), WAIT_MILLIS_MAX);
      }
      pause.nanos(PAUSE_NANOS);
      waited += PAUSE_NANOS;
    }
  }

  private long reserve(int count, long now, long step) {
    // Runs alone never lead the clock by more than the waiting tier: a longer lead is a step's.
    long lead = layout.millisOf(positions.last()) - now;
    boolean logical = Math.max(step, lead) > policy.waitMillisMax();
    if (step > 0 && !logical) {
      return Positions.FULL;
    }
    long ahead = logical ? policy.logicalMillisMax() : 0;
    // A run begins within the allowed time and may end in the milliseconds after it.
    long limit = layout.position(now + ahead + 1) + count - 1;
    return positions.reserve(count, layout.position(now), limit);
  }
}
