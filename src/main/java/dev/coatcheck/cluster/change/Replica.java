package dev.coatcheck.cluster.change;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.ReplicaPool;
import dev.coatcheck.postgres.sql.ReplicaPool.Reply;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * A streaming replica that answers for the primary where it can't be wrong. A caller that gets
 * nothing here asks the primary, so a replica that is late, paused, promoted or gone costs time at
 * most, and little of it: {@value #PRIMARY_MILLIS_MIN} ms of a request's time stay for the primary.
 *
 * <h2>Why no ended public ID is served</h2>
 *
 * A replica replays the commits of the primary in their order, and changes are numbered in that
 * order. So a snapshot that has change n has all endings with a number up to n. A row counts if,
 * when its answer arrives,
 *
 * <ul>
 *   <li>the change feed is trusted: all changes are known that are 1.9 s old;
 *   <li>the snapshot of the row has the <em>last</em> change that this instance knows, with the
 *       moment at which it was made. A replica that lags or stands still doesn't have it. A server
 *       that parted from this primary has another change of that number. Row, change and {@code
 *       pg_is_in_recovery()} are read by one statement, because a pooler may send two statements to
 *       two servers, and because a replica that restarts may show an older state for a while;
 *   <li>this instance hasn't heard of another change since the statement was sent;
 *   <li>the server took no writes when it read the row. Recovery ends once and never begins again
 *       within a connection;
 *   <li>the replica has replayed a checkpoint of the timeline on which the primary was at the last
 *       poll. A replica that was ahead of the one that was promoted can't: its mints may be lost;
 *   <li>the row is active, and this instance doesn't know otherwise. It knows more than its feed
 *       has read if it has ended the ID itself, or has read its end at the primary. Such endings
 *       are {@linkplain #note noted} until a poll that was sent later is read.
 * </ul>
 *
 * <p>So a row that counts lacks only changes that are less than 1.9 s old when it is served, as a
 * cached one. In the cache it carries the position from before its load began, which is never later
 * than the change that its snapshot has: changes after it invalidate the row as they do others. Who
 * goes on to wait for the primary before it serves the row has to look for such changes once more,
 * as {@link TrustedCache#getAll} does, or asks for rows that are of use as a whole only.
 *
 * <p>A row that is missing says nothing, because it may have been minted since. Nor do ended rows:
 * endings are read at the primary, where all of their parts are.
 */
public final class Replica implements AutoCloseable {
  /** What a request keeps for the primary, of the 900 ms that it has in all. */
  private static final int PRIMARY_MILLIS_MIN = 600;

  private static final int PATIENCE_MILLIS_MIN = 50;
  private static final int PATIENCE_MILLIS_MAX = 1_000;
  private static final int NOTED_MAX = 100_000;

  private final ReplicaPool pool;
  private final ReplicaWatch watch;
  private final ChangeFeed feed;
  private final Observer observer;

  /** When endings were noted, by their subjects. */
  private final Map<String, Long> noted = new ConcurrentHashMap<>();

  /** When there were too many of them, or this began: until a later poll no row counts. */
  private volatile long overfullNano;

  private Replica(ReplicaPool pool, ReplicaWatch watch, ChangeFeed feed, Observer observer) {
    this.pool = pool;
    this.watch = watch;
    this.feed = feed;
    this.observer = observer;
    this.overfullNano = feed.nanoTime().getAsLong();
  }

  /**
   * Opens the pool and begins to watch the replica. It need not be there.
   *
   * @throws UnusableDatabase if the server answers and has other data than the primary
   */
  public static Replica open(
      DatabaseSettings settings, Database primary, ChangeFeed feed, Observer observer)
      throws UnusableDatabase {
    ReplicaPool.Identity identity = ReplicaPool.identity(primary);
    Optional<ReplicaPool.Identity> other =
        ReplicaPool.identity(settings).filter(found -> !found.equals(identity));
    if (other.isPresent()) {
      throw new UnusableDatabase(
          "The server at %s is not a replica of the database: %s. Check COATCHECK_DATABASE_REPLICA_URL."
              .formatted(settings.url(), difference(other.get(), identity)));
    }
    feed.keepLast();
    ReplicaPool pool = ReplicaPool.open(settings, observer);
    ReplicaWatch watch =
        new ReplicaWatch(pool, feed, identity, () -> ReplicaPool.identity(primary), observer);
    observer.gauge("coatcheck.replica.used", () -> watch.blocked().isEmpty() ? 1 : 0);
    watch.start();
    return new Replica(pool, watch, feed, observer);
  }

  private static String difference(ReplicaPool.Identity found, ReplicaPool.Identity primary) {
    return found.systemIdentifier() == primary.systemIdentifier()
        ? "it is another database of the same cluster"
        : "its system identifier is %d, that of the primary %d"
            .formatted(found.systemIdentifier(), primary.systemIdentifier());
  }

  /**
   * The rows that count, of those that the replica has; none if it isn't asked.
   *
   * @param asked how many public IDs are asked for
   * @param isWhole whether some are of no use without the others
   * @param activeSubject how the feed would name the end of the row; empty for one that has ended
   */
  public <T> List<T> rows(
      int asked,
      boolean isWhole,
      Function<T, Optional<String>> activeSubject,
      ReplicaPool.Work<List<T>> work) {
    NonBlockingAttempt.leave();
    return switch (read(work)) {
      case Read.Refused<T>(PassedOver reason) -> {
        count(asked, reason);
        yield List.of();
      }
      case Read.Rows<T>(List<T> rows, LastChange had) -> {
        List<T> active =
            rows.stream()
                .filter(
                    row -> activeSubject.apply(row).filter(this::isUnknownToHaveEnded).isPresent())
                .toList();
        // After the endings that are noted: those that no longer are have moved the feed.
        if (!feed.last().equals(Optional.of(had))) {
          count(asked, PassedOver.CHANGED);
          yield List.of();
        }
        if (isWhole && active.size() < asked) {
          count(asked, rows.size() < asked ? PassedOver.MISS : PassedOver.ENDED);
          yield List.of();
        }
        count(asked - rows.size(), PassedOver.MISS);
        count(rows.size() - active.size(), PassedOver.ENDED);
        observer.observe(new Event.ReplicaServed(active.size()));
        yield active;
      }
    };
  }

  private void count(int ids, PassedOver reason) {
    if (ids > 0) {
      observer.observe(new Event.ReplicaPassedOver(reason.wireName(), ids));
    }
  }

  private sealed interface Read<T> {
    record Rows<T>(List<T> rows, LastChange had) implements Read<T> {}

    record Refused<T>(PassedOver reason) implements Read<T> {}
  }

  private <T> Read<T> read(ReplicaPool.Work<List<T>> work) {
    Optional<PassedOver> blocked = watch.blocked();
    if (blocked.isPresent()) {
      return new Read.Refused<>(blocked.get());
    }
    long patienceMillis =
        Math.min((Deadline.current().leftMillis() - PRIMARY_MILLIS_MIN) / 2, PATIENCE_MILLIS_MAX);
    if (patienceMillis < PATIENCE_MILLIS_MIN) {
      return new Read.Refused<>(PassedOver.NO_TIME);
    }
    Optional<LastChange> known = feed.last();
    if (known.isEmpty() || feed.state().ageNanos(overfullNano) <= 0) {
      return new Read.Refused<>(PassedOver.FEED);
    }
    if (!watch.isOn(known.get().timeline())) {
      return blocked(PassedOver.TIMELINE, "the primary has a new timeline");
    }
    return switch (pool.ask(known.get().change(), Duration.ofMillis(patienceMillis), work)) {
      case Reply.Answered<List<T>>(_, boolean isReplica, _) when !isReplica ->
          blocked(PassedOver.PROMOTED, "it isn't a replica any more: it takes writes");
      case Reply.Answered<List<T>>(_, _, boolean hasChange) when !hasChange ->
          blocked(PassedOver.BEHIND, "it lacks the last change that the primary has");
      case Reply.Answered<List<T>>(List<T> rows, _, _) -> new Read.Rows<>(rows, known.get());
      case Reply.Late<List<T>> _ ->
          blocked(PassedOver.SLOW, "it took longer than " + patienceMillis + " ms to answer");
      case Reply.Failed<List<T>>(String words) -> blocked(PassedOver.AWAY, words);
      case Reply.Busy<List<T>> _ -> new Read.Refused<>(PassedOver.BUSY);
      case Reply.Cancelled<List<T>> _ -> new Read.Refused<>(PassedOver.CANCELLED);
    };
  }

  private <T> Read<T> blocked(PassedOver reason, String words) {
    watch.block(reason, words);
    return new Read.Refused<>(reason);
  }

  /** This instance knows of an ending before its feed has read it. */
  public synchronized void note(String subject) {
    long now = feed.nanoTime().getAsLong();
    if (noted.size() >= NOTED_MAX) {
      noted.values().removeIf(nano -> feed.state().ageNanos(nano) > 0);
    }
    if (noted.size() >= NOTED_MAX) {
      overfullNano = now;
      noted.clear();
    } else {
      noted.put(subject, now);
    }
  }

  /** A poll that was sent later has read the change. */
  private boolean isUnknownToHaveEnded(String subject) {
    Long notedNano = noted.get(subject);
    return notedNano == null || feed.state().ageNanos(notedNano) > 0;
  }

  @Override
  public void close() {
    watch.close();
    pool.close();
  }
}
