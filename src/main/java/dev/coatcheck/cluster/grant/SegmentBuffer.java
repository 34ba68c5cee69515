package dev.coatcheck.cluster.grant;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.postgres.connection.Deadline;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The numbers of a segment that are granted to this instance. When a tenth of the last grant is
 * used, the next grant is fetched, so that a draw seldom waits for Postgres.
 *
 * <h2>What is lost with the process</h2>
 *
 * At most two grants. One fetch runs at a time. It runs ahead of need only while no more than the
 * rest of the last grant is left, and for a call only while less than the call needs is left.
 *
 * <h2>How large a grant is</h2>
 *
 * A grant should last some minutes. If it lasts longer, more numbers are lost with the process; if
 * it is shorter, an outage of Postgres soon stops the draws. A grant that lasted less than 2.5
 * minutes doubles the next one, and a grant that lasted 10 minutes halves it, within the bounds of
 * the definition.
 */
final class SegmentBuffer {
  /** Sends a request for numbers: how many, and the end of what was granted before. */
  @FunctionalInterface
  interface Source {
    SegmentGrant grant(int count, long knownEnd);
  }

  private static final long GROW_BELOW_NANOS = TimeUnit.SECONDS.toNanos(150);
  private static final long SHRINK_ABOVE_NANOS = TimeUnit.SECONDS.toNanos(600);
  private static final long RETRY_MILLIS = 1_000;

  /** An unused part of a grant. */
  private record Span(SegmentDefinition definition, long first, int count) {
    List<Key> keys(int some) {
      List<Key> keys = new ArrayList<>(some);
      for (long index = first; index < first + some; index++) {
        keys.add(new Key.Bigint(definition.start() + index * definition.stride()));
      }
      return keys;
    }

    Span without(int some) {
      return new Span(definition, first + some, count - some);
    }
  }

  private final Source source;
  private final Executor threads;
  private final LongSupplier nanoTime;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition fetched = lock.newCondition();

  // Guarded by the lock.
  private final Deque<Span> held = new ArrayDeque<>();
  private int available;
  private boolean fetching;
  private long fetches;
  private KeyOutcome.@Nullable NoKeys refusal; // of the last fetch
  private long refusedAtNano;
  private int step;
  private long fetchedAtNano;
  private @Nullable SegmentDefinition definition;
  private long knownEnd;

  SegmentBuffer(Source source, Executor threads, LongSupplier nanoTime) {
    this.source = source;
    this.threads = threads;
    this.nanoTime = nanoTime;
  }

  /** Draws {@code count} numbers, 1 to {@link KeyGenerator#COUNT_MAX}, rising. */
  KeyOutcome draw(int count) {
    KeyGenerator.checked(count);
    lock.lock();
    try {
      while (available < count) {
        KeyOutcome.NoKeys why = await(count - available);
        if (why != null) {
          return why;
        }
      }
      List<Key> keys = take(count);
      if (!fetching && available <= step - step / 10 && mayFetchAhead()) {
        fetch(next());
      }
      return new KeyOutcome.Drawn(keys);
    } finally {
      lock.unlock();
    }
  }

  /** Not soon after a refusal: what refused one fetch, such as a fence, refuses the next one. */
  private boolean mayFetchAhead() {
    return refusal == null
        || nanoTime.getAsLong() - refusedAtNano >= TimeUnit.MILLISECONDS.toNanos(RETRY_MILLIS);
  }

  private List<Key> take(int count) {
    List<Key> keys = new ArrayList<>(count);
    while (keys.size() < count) {
      Span span = held.remove();
      int some = Math.min(count - keys.size(), span.count());
      keys.addAll(span.keys(some));
      if (some < span.count()) {
        held.addFirst(span.without(some));
      }
    }
    available -= count;
    return keys;
  }

  /** Waits for the running fetch, or starts one; returns the reason if it brought no numbers. */
  private KeyOutcome.@Nullable NoKeys await(int missing) {
    long before = fetches;
    if (!fetching) {
      fetch(Math.max(next(), missing));
    }
    long nanos = Deadline.ofAnswer().orEarlier().leftNanos();
    try {
      while (fetches == before) {
        nanos = fetched.awaitNanos(nanos);
        if (nanos <= 0) {
          return new KeyOutcome.Refused("Postgres granted no numbers in time", RETRY_MILLIS);
        }
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return new KeyOutcome.Refused("the call was interrupted", RETRY_MILLIS);
    }
    return refusal;
  }

  /** The size of the next grant, from the time that the last one lasted. */
  private int next() {
    SegmentDefinition known = definition;
    if (known == null) {
      return 1; // Postgres grants at least the smallest step
    }
    long lasted = nanoTime.getAsLong() - fetchedAtNano;
    int wanted =
        lasted < GROW_BELOW_NANOS ? step * 2 : lasted > SHRINK_ABOVE_NANOS ? step / 2 : step;
    return Math.clamp(wanted, known.stepMin(), known.stepMax());
  }

  private void fetch(int count) {
    fetching = true;
    long end = knownEnd;
    threads.execute(() -> arrived(send(count, end)));
  }

  /** Callers wait for the reply, so a failure is a reply too. */
  private SegmentGrant send(int count, long end) {
    try {
      return Deadline.ofAnswer().call(() -> source.grant(count, end));
    } catch (RuntimeException | Error failed) {
      return new SegmentGrant.Refused(new KeyOutcome.Refused(failed.toString(), RETRY_MILLIS));
    }
  }

  private void arrived(SegmentGrant reply) {
    lock.lock();
    try {
      fetching = false;
      fetches++;
      refusal = null;
      switch (reply) {
        case SegmentGrant.Granted granted -> {
          definition = granted.definition();
          step = granted.count();
          fetchedAtNano = nanoTime.getAsLong();
          knownEnd = granted.end();
          held.add(new Span(granted.definition(), granted.first(), granted.count()));
          available += granted.count();
        }
        case SegmentGrant.Refused(KeyOutcome.NoKeys why) -> {
          refusal = why;
          refusedAtNano = nanoTime.getAsLong();
        }
      }
      fetched.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
