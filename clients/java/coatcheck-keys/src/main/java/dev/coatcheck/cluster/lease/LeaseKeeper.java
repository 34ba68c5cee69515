package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.KeyReservation;
import dev.coatcheck.core.key.Positions;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The holder's side of a lease, without threads, sockets or clocks of its own: it is told the
 * monotonic time and the replies, and says what to send and when. One thread drives {@link #next}
 * and {@link #replied}; any thread may reserve.
 *
 * <h2>Why no key is made twice</h2>
 *
 * A position is reserved only below the end of a window that the database granted to this worker
 * and epoch, from a counter that only rises and that began after everything granted before. A tick
 * of more than a millisecond belongs to the window in which it begins. Late threads, late replies
 * and wrong estimates change when a position is used, never by whom.
 */
final class LeaseKeeper {
  /** What the driver does next. */
  sealed interface Step {
    record Sleep(long nanos) implements Step {}

    record Send(LeaseRequest request) implements Step {}
  }

  private static final long NANOS_PER_MILLI = 1_000_000L;
  private static final long RETRY_NANOS = 100 * NANOS_PER_MILLI;
  private static final int RETRY_DOUBLINGS_MAX = 2;
  private static final long REPLY_NANOS_MAX = 1_000 * NANOS_PER_MILLI;
  private static final long LEAD_MILLIS_MAX = 1_000;
  private static final long RETRY_AFTER_MILLIS = 1_000;
  static final long RETRY_AFTER_MILLIS_MAX = 3_600_000;

  private final LeaseRules rules;
  private final Consumer<LeaseEvent> events;
  private final SnowflakeLayout layout;
  private final int keyShift;

  private volatile @Nullable GrantedWindow held;

  /** The last one that was asked for; a thread that sees an older one makes its own. */
  private @Nullable Tick tick;

  private volatile boolean stopped;
  private volatile Shortage shortage;

  private LeaseRequest.@Nullable Release toRelease;
  private boolean lost;
  private int failures;
  private long nextNano;

  LeaseKeeper(
      SnowflakeLayout layout, LeaseRules rules, Consumer<LeaseEvent> events, long startNano) {
    this.rules = rules;
    this.events = events;
    this.layout = layout;
    this.keyShift = layout.keyShift();
    this.nextNano = startNano;
    this.shortage = new Shortage("no worker is leased yet", startNano);
  }

  /**
   * Why no worker is held.
   *
   * @param untilNano the earliest end of it that the database could tell
   */
  private record Shortage(String reason, long untilNano) {
    Shortage because(String newReason) {
      return new Shortage(newReason, untilNano);
    }

    KeyReservation.Wait refusal(long nano) {
      long millis = -Math.floorDiv(nano - untilNano, NANOS_PER_MILLI);
      return new KeyReservation.Wait(
          reason, Math.min(Math.max(millis, RETRY_AFTER_MILLIS), RETRY_AFTER_MILLIS_MAX));
    }
  }

  /** Why there will be no keys, if nothing else is heard before the window ends. */
  private static Shortage notRenewed(long nano) {
    return new Shortage("the lease was not renewed in time", nano);
  }

  /**
   * Where positions of a window lie until the estimate reaches its next millisecond: most keys are
   * found by a shift and an addition.
   *
   * @param last the last position of the same tick as {@code earliest}
   * @param offset the distance of the keys of these positions from the positions, shifted
   */
  private record Tick(
      GrantedWindow window, long endNano, long earliest, long limit, long last, long offset) {}

  private Tick tickAt(GrantedWindow window, long nano) {
    long estimate = window.estimate().millis(nano);
    long earliest = layout.position(estimate);
    return new Tick(
        window,
        window.estimate().nanoAt(estimate + 1),
        earliest,
        layout.positionFrom(rules.lastMillis(window.untilMillis(), estimate) + 1),
        earliest + layout.sequenceMax(),
        layout.key(earliest, window.worker()) - (earliest << keyShift));
  }

  /**
   * Reserves up to {@code count} positions of the worker held.
   *
   * @throws IllegalStateException if the time of the layout has not begun, or has ended
   */
  KeyReservation reserve(int count, long nano) {
    GrantedWindow now = held;
    if (stopped) {
      return new KeyReservation.Never("this instance is shutting down", RETRY_AFTER_MILLIS);
    }
    if (now == null) {
      return shortage.refusal(nano);
    }
    Tick current = tickAt(now, nano);
    Positions.Run run = now.positions().reserve(count, current.earliest(), current.limit());
    if (run.count() > 0) {
      return new KeyReservation.Some(run, now.worker());
    }
    return now.closed(nano)
        ? shortage.refusal(nano)
        : new KeyReservation.Wait("every key up to this millisecond is taken", layout.tickMillis());
  }

  /**
   * The key of one position of the worker held, or −1 if there is none now.
   *
   * @throws IllegalStateException if the time of the layout has not begun, or has ended
   */
  @SuppressWarnings("ReferenceEquality") // a window equals none that was granted before it
  long reserveKey(long nano) {
    GrantedWindow now = held;
    if (stopped || now == null) {
      return Positions.NONE;
    }
    Tick current = tick;
    if (current == null || current.window() != now || nano - current.endNano() >= 0) {
      current = tickAt(now, nano);
      tick = current;
    }
    long position = now.positions().reserveOne(current.earliest(), current.limit());
    if (position == Positions.NONE) {
      return Positions.NONE;
    }
    return position <= current.last()
        ? (position << keyShift) + current.offset()
        : layout.key(position, now.worker());
  }

  Step next(long nano) {
    if (nextNano - nano > 0) {
      return new Step.Sleep(nextNano - nano);
    }
    GrantedWindow now = held;
    if (now != null && !lost && now.closed(nano)) {
      // The lease outlasts the window: until then the row would count as taken, by this holder too.
      lost = true;
      toRelease = new LeaseRequest.Release(now.worker(), now.epoch());
    }
    // First, because what is given back may be the only worker that gets free for this instance; in
    // turns after a failure, because a row that is locked must hold up nothing else.
    if (toRelease != null && failures % 2 == 0) {
      return new Step.Send(toRelease);
    }
    if (now == null || lost) {
      return new Step.Send(new LeaseRequest.Acquire());
    }
    return new Step.Send(new LeaseRequest.Renew(now.worker(), now.epoch(), now.untilMillis()));
  }

  private boolean waits(long nano) {
    GrantedWindow now = held;
    return now == null || lost || now.closed(nano);
  }

  /** Every change of the lease's state. */
  void replied(LeaseRequest request, LeaseReply reply, long sentNano, long nano) {
    failures = reply instanceof LeaseReply.Failed ? failures + 1 : 0;
    nextNano = sentNano + LeaseSettings.RENEW_EVERY_NANOS;
    if (reply instanceof LeaseReply.Acquired acquired) {
      acquired(acquired, sentNano, nano);
    } else if (reply instanceof LeaseReply.Renewed renewed) {
      renewed(renewed, sentNano, nano);
    } else if (reply instanceof LeaseReply.Gone) {
      gone(nano);
    } else if (reply instanceof LeaseReply.NoneFree none) {
      noneFree(none, nano);
    } else if (reply instanceof LeaseReply.Released) {
      nextNano = nano;
    } else if (reply instanceof LeaseReply.Failed failed) {
      shortage = shortage.because(failed.reason());
      nextNano = nano + (RETRY_NANOS << Math.min(failures - 1, RETRY_DOUBLINGS_MAX));
      events.accept(new LeaseEvent.Failed(layout.name(), failed.reason()));
    }
    if (request instanceof LeaseRequest.Release
        && !(reply instanceof LeaseReply.Failed && waits(nano))) {
      toRelease = null; // No release: a worker that is not released expires by itself.
    }
  }

  private void noneFree(LeaseReply.NoneFree reply, long nano) {
    long freeInNanos = Math.min(reply.freeInMillis(), RETRY_AFTER_MILLIS_MAX) * NANOS_PER_MILLI;
    shortage = new Shortage(reply.reason(), nano + freeInNanos);
    nextNano = nano + Math.min(Math.max(freeInNanos, RETRY_NANOS), LeaseSettings.RENEW_EVERY_NANOS);
    events.accept(new LeaseEvent.NoneFree(layout.name(), reply.reason()));
  }

  private void acquired(LeaseReply.Acquired reply, long sentNano, long nano) {
    if (stopped || nano - sentNano > REPLY_NANOS_MAX) {
      // An estimate begun from an old reply would lag by its age.
      toRelease = new LeaseRequest.Release(reply.worker(), reply.epoch());
      nextNano = nano;
      if (!stopped) {
        tooLate(nano - sentNano, nano);
      }
      return;
    }
    long floorMillis = reply.nowMillis();
    GrantedWindow before = held;
    if (before != null) {
      long lastMillis = layout.millisOf(before.positions().close());
      // Keys go on rising over a change of worker, but not over a jump of the database's clock.
      if (lastMillis - floorMillis <= LEAD_MILLIS_MAX) {
        floorMillis = Math.max(floorMillis, lastMillis);
      }
    }
    held =
        new GrantedWindow(
            reply.worker(),
            reply.epoch(),
            reply.untilMillis(),
            ClockEstimate.ofMillis(reply.nowMillis() + 1, nano),
            new Positions(rules.firstPosition(layout, floorMillis) - 1));
    lost = false;
    shortage = notRenewed(nano);
    events.accept(new LeaseEvent.Acquired(layout.name(), reply.worker(), reply.epoch()));
  }

  /** The next reply may come as late, and then somebody has to know why there are no keys. */
  private void tooLate(long tookNanos, long nano) {
    String reason =
        "the reply came after %d ms, and counts for %d ms"
            .formatted(tookNanos / NANOS_PER_MILLI, REPLY_NANOS_MAX / NANOS_PER_MILLI);
    shortage = shortage.because("a worker was leased too late: " + reason);
    nextNano = nano + RETRY_NANOS;
    events.accept(new LeaseEvent.Failed(layout.name(), reason));
  }

  private void renewed(LeaseReply.Renewed reply, long sentNano, long nano) {
    GrantedWindow before = held;
    if (before == null || before.closed(nano)) {
      // Closed while the reply was under way: it may speak of a row that had another holder.
      nextNano = nano;
      return;
    }
    ClockEstimate estimate = rules.renewed(before.estimate(), reply.nowMillis(), sentNano, nano);
    long last = before.positions().last();
    if (stopped) {
      return; // the positions are closed, which is no position
    }
    long lead = layout.millisOf(last) - estimate.millis(nano);
    held = before.renewed(reply.untilMillis(), estimate);
    shortage = notRenewed(nano);
    if (lead > LEAD_MILLIS_MAX) {
      toRelease = new LeaseRequest.Release(before.worker(), before.epoch());
      lost = true;
      nextNano = nano;
      events.accept(new LeaseEvent.SteppedBack(layout.name(), before.worker(), lead));
    }
  }

  private void gone(long nano) {
    GrantedWindow before = held;
    lost = true;
    nextNano = nano;
    if (before != null) {
      // Mostly a reply was lost and the row is still ours: no instance should have to wait for it.
      toRelease = new LeaseRequest.Release(before.worker(), before.epoch());
      events.accept(new LeaseEvent.Gone(layout.name(), before.worker(), before.epoch()));
    }
  }

  /**
   * Ends the window that is held before its time, and gives its worker back: this machine may have
   * been suspended, and then the estimate is as late as that was long. Called by the driver.
   */
  void closeEarly(long nano) {
    GrantedWindow before = held;
    if (before == null || lost || before.closed(nano)) {
      return;
    }
    held = before.endingAt(before.estimate().millis(nano) - 1);
    toRelease = new LeaseRequest.Release(before.worker(), before.epoch());
    lost = true;
    nextNano = nano;
    shortage = new Shortage("the machine was suspended, or its clock was set", nano);
    events.accept(new LeaseEvent.ClosedEarly(layout.name(), before.worker()));
  }

  /** Ends minting at once, from any thread. */
  void stop() {
    stopped = true;
    GrantedWindow last = held;
    if (last != null) {
      last.positions().close();
    }
  }

  /** What is still to be sent when the driver has ended. */
  LeaseRequest.@Nullable Release farewell() {
    GrantedWindow last = held;
    return toRelease != null || last == null || lost
        ? toRelease
        : new LeaseRequest.Release(last.worker(), last.epoch());
  }
}
