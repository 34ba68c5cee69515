package dev.coatcheck.core.scheme;

import dev.coatcheck.core.key.Waiter;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;

/**
 * Generates snos from the machine's wall clock, for one writer of a partition. Not thread-safe.
 *
 * <p>The tick-tock bit divides each tick in two. When the clock steps back, the bit changes, and
 * the repeated ticks are used with the other value. If the clock steps back again before it has
 * passed the repeated ticks, a third value would be needed. The generator then waits until the
 * clock is past them, for up to ten seconds; a larger step is refused. Source: github.com/muyo/sno.
 *
 * <p>A {@link #snapshot} is valid until the next ID. Store it when the generator has ended, or
 * before IDs are given away.
 */
public final class SnoGenerator {
  private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final long WAIT_TICKS_MAX = TimeUnit.SECONDS.toMillis(10) / SnoId.MILLIS_PER_TICK;

  private final SnoShare share;
  private final SequenceRange sequences;
  private final LongSupplier wallMillis;
  private final Waiter waiter;
  private final ObjLongConsumer<Instant> overflows;

  private long tick;
  private int sequence;
  private boolean isTock;
  private long usedUpTo;
  private long stepsBack;
  private long noticedTick = -1;
  private long noticedTicks;

  /**
   * Continues after a stored state.
   *
   * @param wallMillis Unix milliseconds
   * @param overflows is told the time of each full tick before the wait for the next one, and how
   *     many ticks in a row were full
   */
  public SnoGenerator(
      SnoSnapshot begin,
      LongSupplier wallMillis,
      Waiter waiter,
      ObjLongConsumer<Instant> overflows) {
    this.share = begin.share();
    this.sequences = share.sequences();
    this.tick = begin.tick();
    this.sequence = begin.sequence();
    this.isTock = begin.isTock();
    this.usedUpTo = begin.usedUpTo();
    this.stepsBack = begin.stepsBack();
    this.wallMillis = wallMillis;
    this.waiter = waiter;
    this.overflows = overflows;
  }

  /**
   * The next ID. Waits while the tick is full, and while the clock is up to ten seconds behind a
   * time that occurred twice before.
   *
   * @throws IllegalStateException if the clock is further behind, before 2010 or after September
   *     2079
   */
  public SnoId next(int metabyte) {
    for (long now = now(); !advance(now); now = now()) {
      requireSmall(Math.min(tick, usedUpTo) - now);
      tellOnce(now);
      waiter.pause(PAUSE_NANOS);
    }
    return new SnoId(tick, isTock, metabyte, share.partition(), sequence);
  }

  private static void requireSmall(long ticksBehind) {
    if (ticksBehind > WAIT_TICKS_MAX) {
      throw new IllegalStateException(
          "the clock is %d s behind a time at which both halves of the ticks were used. Set the clock, or use another partition."
              .formatted(ticksBehind * SnoId.MILLIS_PER_TICK / 1_000));
    }
  }

  private void tellOnce(long now) {
    if (now == tick && noticedTick != now) {
      noticedTick = now;
      noticedTicks++;
      overflows.accept(SnoId.timeOf(now), noticedTicks);
    }
  }

  /** The state after the last ID. */
  public SnoSnapshot snapshot() {
    return new SnoSnapshot(share, tick, sequence, isTock, usedUpTo, stepsBack);
  }

  /** Whether an ID fits into the tick of a time; then the fields are those of the next ID. */
  private boolean advance(long now) {
    if (now > tick) {
      begin(now);
      return true;
    }
    if (now == tick) {
      if (sequence == sequences.last()) {
        return false;
      }
      sequence++;
      return true;
    }
    if (now <= usedUpTo) {
      return false;
    }
    usedUpTo = tick;
    isTock = !isTock;
    stepsBack++;
    begin(now);
    return true;
  }

  private void begin(long now) {
    if (noticedTick != tick) {
      noticedTicks = 0;
    }
    tick = now;
    sequence = sequences.first();
  }

  private long now() {
    long now = SnoId.tickOf(wallMillis.getAsLong());
    if (now < 0 || now >= SnoId.TICK_END) {
      throw new IllegalStateException(
          "the clock shows " + SnoId.timeOf(now) + ", which is before 2010 or after 2079");
    }
    return now;
  }
}
