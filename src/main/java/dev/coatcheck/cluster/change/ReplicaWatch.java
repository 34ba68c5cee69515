package dev.coatcheck.cluster.change;

import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.ReplicaPool;
import dev.coatcheck.postgres.sql.ReplicaPool.Reply;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Knows whether the replica is worth a question. A request that finds it slow, gone or behind says
 * so here, and no other request asks it then. Only this class's own thread, which keeps asking,
 * finds out that it is back.
 */
final class ReplicaWatch implements AutoCloseable {
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long PAUSE_NANOS = 500 * NANOS_PER_MILLI;

  /** A replica that is behind usually is for milliseconds. */
  private static final long BEHIND_PAUSE_NANOS = 50 * NANOS_PER_MILLI;

  private static final Duration PATIENCE = Duration.ofMillis(150);

  /** How many good answers in a row a replica needs that was slow, gone or another server. */
  private static final int GOOD_MIN = 2;

  /** Shorter pauses are in the metrics only. */
  private static final long LOST_NANOS = 2_000 * NANOS_PER_MILLI;

  private static final int STOP_MILLIS_MAX = 2_000;

  private final ReplicaPool pool;
  private final ChangeFeed feed;
  private final Supplier<ReplicaPool.Identity> primary;
  private final Observer observer;
  private final Background background;
  private final Thread thread =
      Thread.ofPlatform().daemon().name("replica-watch").unstarted(this::run);
  private volatile Optional<PassedOver> blocked = Optional.of(PassedOver.AWAY);
  private volatile long timeline;
  private volatile boolean closed;

  private ReplicaPool.Identity identity; // of this class's thread

  private String why = "it has not answered yet"; // guarded by this, and so is what follows
  private long blockedNano;
  private int good = GOOD_MIN - 1; // the first answer will do
  private boolean isLost;

  /**
   * @param identity of the primary
   * @param primary asks the primary again which data it has
   */
  ReplicaWatch(
      ReplicaPool pool,
      ChangeFeed feed,
      ReplicaPool.Identity identity,
      Supplier<ReplicaPool.Identity> primary,
      Observer observer) {
    this.pool = pool;
    this.feed = feed;
    this.identity = identity;
    this.primary = primary;
    this.observer = observer;
    this.background = new Background("replica-watch", observer);
    this.blockedNano = now();
  }

  void start() {
    thread.start();
  }

  /** Why the replica must not be asked now; empty if it may. */
  Optional<PassedOver> blocked() {
    return blocked;
  }

  /** Whether the replica has the history that this primary goes on with. */
  boolean isOn(long primaryTimeline) {
    return timeline == primaryTimeline;
  }

  /**
   * Nobody asks the replica from now on, until it has answered here as it should.
   *
   * @param words for the log
   */
  synchronized void block(PassedOver reason, String words) {
    good = 0;
    why = words;
    if (blocked.isEmpty()) {
      blockedNano = now();
    }
    boolean isNew = !blocked.equals(Optional.of(reason));
    blocked = Optional.of(reason);
    if (isNew) {
      LockSupport.unpark(thread);
    }
    if (isNew && reason == PassedOver.AWAY) {
      pool.renew();
    }
  }

  private void run() {
    while (!closed) {
      boolean _ = background.run(this::look);
      tell();
      LockSupport.parkNanos(
          blocked.equals(Optional.of(PassedOver.BEHIND)) ? BEHIND_PAUSE_NANOS : PAUSE_NANOS);
    }
  }

  /** Asks the replica what it is. */
  void look() {
    Optional<LastChange> known = feed.last();
    switch (pool.state(known.map(LastChange::change), PATIENCE)) {
      case Reply.Answered<ReplicaPool.State>(
              ReplicaPool.State state,
              boolean isReplica,
              boolean hasChange) ->
          judge(state, isReplica, hasChange, known);
      case Reply.Late<ReplicaPool.State> _ ->
          block(PassedOver.SLOW, "it took longer than " + PATIENCE.toMillis() + " ms to answer");
      case Reply.Failed<ReplicaPool.State>(String words) -> block(PassedOver.AWAY, words);
      case Reply.Busy<ReplicaPool.State>(Optional<String> words) -> {
        if (blocked.isPresent() && words.isPresent()) {
          block(PassedOver.AWAY, words.get());
        }
      }
      case Reply.Cancelled<ReplicaPool.State> _ -> {}
    }
  }

  private void judge(
      ReplicaPool.State state, boolean isReplica, boolean hasChange, Optional<LastChange> known) {
    if (!state.identity().equals(identity)) {
      block(
          PassedOver.OTHER_DATABASE,
          "it isn't a replica of this database: its system is %d, that of the primary %d"
              .formatted(state.identity().systemIdentifier(), identity.systemIdentifier()));
      identity = primary.get();
    } else if (!isReplica) {
      block(PassedOver.PROMOTED, "it isn't a replica any more: it takes writes");
    } else if (known.isPresent()) {
      if (state.timeline() != known.get().timeline()) {
        block(
            PassedOver.TIMELINE,
            "it has replayed no checkpoint of the primary's timeline %d, its own is %d; run checkpoint on the primary, then on the replica"
                .formatted(known.get().timeline(), state.timeline()));
      } else if (!hasChange) {
        block(PassedOver.BEHIND, "it lacks the last change that the primary has");
      } else {
        timeline = state.timeline();
        unblock();
      }
    }
  }

  private synchronized void unblock() {
    good++;
    if (blocked.equals(Optional.of(PassedOver.BEHIND)) || good >= GOOD_MIN) {
      blocked = Optional.empty();
    }
  }

  private synchronized void tell() {
    if (blocked.isPresent() && !isLost && now() - blockedNano >= LOST_NANOS) {
      isLost = true;
      observer.observe(new Event.ReplicaLost(why));
    } else if (blocked.isEmpty() && isLost) {
      isLost = false;
      observer.observe(new Event.ReplicaBack((now() - blockedNano) / NANOS_PER_MILLI));
    }
  }

  private long now() {
    return feed.nanoTime().getAsLong();
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    try {
      thread.join(STOP_MILLIS_MAX);
    } catch (InterruptedException hurried) {
      Thread.currentThread().interrupt();
    }
  }
}
