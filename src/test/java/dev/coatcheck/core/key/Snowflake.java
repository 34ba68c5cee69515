package dev.coatcheck.core.key;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Snowflake keys of one fixed worker on the wall clock, for tests that need no lease. Unique as
 * long as no other generator runs as the same worker and the clock does not step back across a
 * restart.
 */
public final class Snowflake implements KeyGenerator {
  private final SnowflakeLayout layout;
  private final int worker;
  private final ClockPolicy policy;
  private final LongSupplier wallMillis;
  private final Waiter waiter;
  private final Positions positions = new Positions(-1);
  private final AtomicLong highestMillis = new AtomicLong(Long.MIN_VALUE);

  public Snowflake(SnowflakeLayout layout, int worker) {
    this(layout, worker, ClockPolicy.THREE_TIERS, System::currentTimeMillis, Waiter.PARKING);
  }

  public Snowflake(
      SnowflakeLayout layout,
      int worker,
      ClockPolicy policy,
      LongSupplier wallMillis,
      Waiter waiter) {
    this.layout = layout;
    if (worker < 0 || worker >= layout.workers()) {
      throw new IllegalArgumentException("worker " + worker + " of layout " + layout.name());
    }
    this.worker = worker;
    this.policy = policy;
    this.wallMillis = wallMillis;
    this.waiter = waiter;
  }

  @Override
  public KeyDraw next(int count) {
    return KeyRun.draw(count, layout, this::reserve, waiter);
  }

  private KeyRun reserve(int count) {
    long now = wallMillis.getAsLong();
    long step = raisedTo(now) - now;
    if (step > policy.logicalMillisMax()) {
      return new KeyRun.Never(
          "the clock stepped back by %d ms, more than %d ms"
              .formatted(step, policy.logicalMillisMax()),
          step - policy.logicalMillisMax());
    }
    // Draws alone never lead the clock: a lead beyond the waiting tier is left from a step.
    long lead = layout.millisOf(positions.last()) - now;
    boolean logical = Math.max(step, lead) > policy.waitMillisMax();
    long lastMillis = logical ? now + policy.logicalMillisMax() : now;
    Positions.Run run =
        positions.reserve(count, layout.position(now), layout.position(lastMillis + 1));
    return run.count() > 0
        ? new KeyRun.Some(run, worker)
        : new KeyRun.Wait("every key of this millisecond is taken", 1);
  }

  private long raisedTo(long now) {
    long highest = highestMillis.get();
    return now <= highest ? highest : highestMillis.accumulateAndGet(now, Math::max);
  }
}
