package dev.coatcheck.cluster.instance;

import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Supplier;

/**
 * Announces this instance in the database every half minute, and knows all other instances there. A
 * failed round is observed, and the next round tries again; nothing else waits for it.
 */
public final class Instances implements AutoCloseable {
  private static final Duration PERIOD = Duration.ofSeconds(30);

  /** A stop doesn't wait longer for Postgres. */
  private static final Duration FORGET_MAX = Duration.ofSeconds(1);

  private final InstanceStore store;
  private final String holder;
  private final Instant startedAt;
  private final Supplier<Duration> feedSilent;
  private final Background background;
  private final Duration period;

  /**
   * @param holder names this instance
   * @param feedSilent how long ago this instance heard from the change feed
   */
  public Instances(
      Database database,
      String holder,
      Supplier<Duration> feedSilent,
      Observer observer,
      InstantSource clock) {
    this(database, holder, feedSilent, observer, clock, PERIOD);
  }

  Instances(
      Database database,
      String holder,
      Supplier<Duration> feedSilent,
      Observer observer,
      InstantSource clock,
      Duration period) {
    this.store = new InstanceStore(database);
    this.holder = holder;
    this.startedAt = clock.instant();
    this.feedSilent = feedSilent;
    this.background = new Background("instances", observer);
    this.period = period;
  }

  /** From now on the others are told of this instance, by a thread of its own. */
  public void announce(String version, String address) {
    Instance.Self self = new Instance.Self(holder, version, address, startedAt);
    background.every(Duration.ZERO, period, () -> store.tell(self, feedSilent.get()));
  }

  /** Which of the instances this one is. */
  public String holder() {
    return holder;
  }

  /**
   * Those that were seen within the last minutes, by their names.
   *
   * @throws DatabaseUnavailable if Postgres can't be asked
   */
  public List<Instance> all() {
    return store.all();
  }

  /** An instance that stops is no longer listed, if Postgres can be told. */
  @Override
  public void close() {
    background.stop();
    try {
      Deadline.after(FORGET_MAX).call(() -> store.forget(holder));
    } catch (DatabaseUnavailable gone) {
      // The others forget it after a while.
    }
  }
}
