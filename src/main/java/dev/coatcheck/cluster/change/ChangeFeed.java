package dev.coatcheck.cluster.change;

import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.SmallPool;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import javax.sql.DataSource;

/**
 * Follows the changes of all instances, and tells how far cache entries may be trusted. It polls
 * twice a second on its own connection, so it never waits behind requests. A missed poll makes
 * caches unusable, never wrong.
 */
public final class ChangeFeed implements AutoCloseable {
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long POLL_NANOS = 500 * NANOS_PER_MILLI;
  private static final long RETRY_NANOS = 100 * NANOS_PER_MILLI;
  private static final long PURGE_NANOS = 60_000 * NANOS_PER_MILLI;
  private static final int STOP_MILLIS_MAX = 2_000;

  /** Longer than anything is trusted. */
  private static final long AHEAD_MILLIS_MIN = 2_000;

  private final FeedState state = new FeedState();
  private final Map<ChangeKind, List<Runnable>> listeners = new ConcurrentHashMap<>();
  private final Map<ChangeKind, List<Consumer<Optional<List<String>>>>> subjectListeners =
      new ConcurrentHashMap<>();
  private final List<Runnable> pollListeners = new CopyOnWriteArrayList<>();
  private final ChangeStore store;
  private final Observer observer;
  private final Background background;
  private final LongSupplier nanoTime;
  private final LongSupplier wallMillis;
  private final Thread poller =
      Thread.ofPlatform().daemon().name("change-feed").unstarted(this::run);
  private Optional<SmallPool> pool = Optional.empty();
  private volatile boolean closed;
  private volatile boolean keepsLast;

  /** How far the wall clock was ahead of the monotonic one at the last successful poll. */
  private volatile long leadMillis;

  private boolean distrusted;
  private long nextPurgeNano;
  private long pauseNanos;

  private ChangeFeed(
      ChangeStore store, Observer observer, LongSupplier nanoTime, LongSupplier wallMillis) {
    this.store = store;
    this.observer = observer;
    this.background = new Background("change-feed", observer);
    this.nanoTime = nanoTime;
    this.wallMillis = wallMillis;
    this.nextPurgeNano = nanoTime.getAsLong() + PURGE_NANOS;
  }

  /**
   * Reads the current position of the feed and starts to follow it.
   *
   * @param wallMillis tells for how long the machine was suspended, nothing else
   */
  public static ChangeFeed open(
      DatabaseSettings settings,
      Observer observer,
      LongSupplier nanoTime,
      LongSupplier wallMillis) {
    SmallPool pool = SmallPool.ofOne(settings, "feed");
    ChangeFeed feed = unpolled(pool, observer, nanoTime, wallMillis);
    feed.pool = Optional.of(pool);
    feed.begin();
    feed.poll();
    observer.gauge("coatcheck.feed.position", feed.state::position);
    observer.gauge("coatcheck.feed.trusted", () -> feed.isTrusted() ? 1 : 0);
    observer.gauge("coatcheck.feed.silent.seconds", () -> feed.silentNanos() / 1e9);
    feed.poller.start();
    return feed;
  }

  /** So that applications need not drop what they keep when an instance starts anew. */
  void begin() {
    long sentNano = nanoTime.getAsLong();
    if (store.recent() instanceof FeedReply.Read recent) {
      state.begin(recent, sentNano);
    }
  }

  /** A feed that never polls and is never trusted: who has it always asks the database. */
  public static ChangeFeed none() {
    return new ChangeFeed(
        ChangeStore.none(), new Observer(), System::nanoTime, System::currentTimeMillis);
  }

  /** A feed that polls only when {@link #poll} is called. */
  static ChangeFeed unpolled(
      DataSource pool, Observer observer, LongSupplier nanoTime, LongSupplier wallMillis) {
    return new ChangeFeed(new ChangeStore(pool), observer, nanoTime, wallMillis);
  }

  /**
   * Calls {@code listener} after each change of the kind, and when changes may have been missed.
   * The listener runs on the polling thread and must not wait.
   */
  public void onChange(ChangeKind kind, Runnable listener) {
    listeners.computeIfAbsent(kind, _ -> new CopyOnWriteArrayList<>()).add(listener);
  }

  /**
   * Calls {@code listener} with the subjects of changes of the kind, and with nothing when changes
   * may have been missed. The listener runs on the polling thread and must not wait.
   */
  public void onSubjects(ChangeKind kind, Consumer<Optional<List<String>>> listener) {
    subjectListeners.computeIfAbsent(kind, _ -> new CopyOnWriteArrayList<>()).add(listener);
  }

  /** Whether all changes are known here that are at least 1.9 s old. */
  public boolean isTrusted() {
    return silentNanos() <= FeedState.TRUST_NANOS;
  }

  /** How far changes are known at a moment. */
  public record Mark(int generation, long position) {}

  /** To be asked for before a load of what changes of a kind are about. */
  public Mark mark() {
    return new Mark(state.generation(), state.position());
  }

  /**
   * Whether a change of the kind is known here, or may have been missed, that a load which began at
   * the mark may lack. Ask {@link #isTrusted} first: then a false answer covers all changes that
   * are at least 1.9 s old.
   */
  public boolean hasChangedSince(ChangeKind kind, Mark mark) {
    return state.changedSince(kind, mark.position()) || state.generation() != mark.generation();
  }

  /** The change that a replica must have if its rows are to count; empty while none is known. */
  Optional<LastChange> last() {
    return isTrusted() ? state.last() : Optional.empty();
  }

  /** From now on the last change always has its row. */
  void keepLast() {
    keepsLast = true;
  }

  /** How long ago the last successful poll was sent. */
  public Duration silent() {
    return Duration.ofNanos(silentNanos());
  }

  /**
   * The monotonic clock stands still while the machine is suspended. So where the wall clock has
   * run ahead of it since the last successful poll, that much is added; but not what the wall clock
   * gains by being set a little, or loses.
   */
  private long silentNanos() {
    long nano = nanoTime.getAsLong();
    long silentNanos = state.silentNanos(nano);
    long aheadMillis = wallMillis.getAsLong() - nano / NANOS_PER_MILLI - leadMillis;
    return aheadMillis < AHEAD_MILLIS_MIN || silentNanos == Long.MAX_VALUE
        ? silentNanos
        : silentNanos + aheadMillis * NANOS_PER_MILLI;
  }

  /** Calls {@code listener} after each successful poll, on the polling thread; it must not wait. */
  public void onPoll(Runnable listener) {
    pollListeners.add(listener);
  }

  /**
   * Where a reader begins who knows nothing.
   *
   * @param after all later changes are remembered
   * @param known for how long; at most two minutes
   */
  public record Start(long after, Duration known) {}

  public Start start() {
    long after = state.forgotten();
    return new Start(after, Duration.ofNanos(state.rememberedNanos(nanoTime.getAsLong())));
  }

  /**
   * The first changes after {@code number} that are known here, in order; empty if some of them are
   * no longer remembered, or the number lies ahead of the feed. If they are fewer than {@code
   * changesMax}, they are all that were committed when {@link #silent} began, if that was asked
   * before.
   */
  public Optional<List<Change>> after(long number, int changesMax) {
    return state.after(number, changesMax);
  }

  FeedState state() {
    return state;
  }

  LongSupplier nanoTime() {
    return nanoTime;
  }

  /** Stops polling. Trust expires by itself. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(poller);
    try {
      poller.join(STOP_MILLIS_MAX);
    } catch (InterruptedException hurried) {
      Thread.currentThread().interrupt();
    }
    pool.ifPresent(SmallPool::close);
  }

  private void run() {
    while (!closed) {
      long sentNano = nanoTime.getAsLong();
      pauseNanos = RETRY_NANOS;
      boolean _ = background.run(() -> pauseNanos = poll());
      long leftNanos = sentNano + pauseNanos - nanoTime.getAsLong();
      if (!closed && leftNanos > 0) {
        LockSupport.parkNanos(Math.min(leftNanos, POLL_NANOS));
      }
    }
  }

  /**
   * Polls once.
   *
   * @return the time from when this poll was sent to the next one
   */
  long poll() {
    long sentMillis = wallMillis.getAsLong(); // first: a pause in between may only end the trust
    long sentNano = nanoTime.getAsLong();
    return switch (store.read(state.position())) {
      case FeedReply.Read read -> {
        heard(read, sentNano, sentMillis - sentNano / NANOS_PER_MILLI);
        if (keepsLast && read.last().isEmpty()) {
          store.restoreLast();
        }
        purge();
        yield state.position() < read.head() ? 0 : POLL_NANOS;
      }
      case FeedReply.Failed(String reason) -> {
        failed(reason);
        yield nanoTime.getAsLong() - sentNano + RETRY_NANOS;
      }
    };
  }

  private void heard(FeedReply.Read read, long sentNano, long sentLeadMillis) {
    long silentNanos = silentNanos();
    boolean follows = read.follows(state.position());
    Set<ChangeKind> changed = state.read(read, sentNano);
    if (state.position() == read.head()) {
      leadMillis = sentLeadMillis; // after the changes are known
    }
    if (!follows) {
      observer.observe(new Event.FeedRestarted(state.position()));
    }
    changed.forEach(
        kind -> {
          listeners.getOrDefault(kind, List.of()).forEach(Runnable::run);
          Optional<List<String>> subjects =
              follows ? Optional.of(read.subjects(kind)) : Optional.empty();
          subjectListeners
              .getOrDefault(kind, List.of())
              .forEach(listener -> listener.accept(subjects));
        });
    pollListeners.forEach(Runnable::run);
    if (distrusted && isTrusted()) {
      distrusted = false;
      observer.observe(new Event.FeedTrusted(silentNanos / NANOS_PER_MILLI));
    }
  }

  private void failed(String reason) {
    if (!distrusted && !isTrusted()) {
      distrusted = true;
      observer.observe(new Event.FeedDistrusted(reason));
    }
  }

  private void purge() {
    long nano = nanoTime.getAsLong();
    if (nano - nextPurgeNano >= 0 && !store.purge()) {
      nextPurgeNano = nano + PURGE_NANOS;
    }
  }
}
