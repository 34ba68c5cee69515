package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.LockWait;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TransactionStart;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A runner's only connection to the source; its application name tells it from other sessions. A
 * broken connection is not replaced: the next runner first ends what this one left at the server.
 */
public final class SourceSession implements AutoCloseable {
  /**
   * An expression for the {@code lock_timeout} of what may wait for a writer: two fifths of {@code
   * deadlock_timeout}, and 400 ms at most. Two consecutive lock waits together stay below {@code
   * deadlock_timeout}, so that Postgres never ends the application's writer.
   */
  public static final String LOCK_TIMEOUT =
      "(select least(400, greatest(1, setting::int * 2 / 5)) || 'ms' from pg_settings"
          + " where name = 'deadlock_timeout')";

  /** By which the sessions of a run are found in {@code pg_stat_activity}, and ended. */
  public enum Name {
    RUNNER("run"),

    /** Transactions of every instance's relay, on connections of a pool. */
    OUTBOX("outbox"),

    /** Transactions that give a row its key for a look-up, on connections of a pool. */
    LOOK_UP("look-up"),

    /** Transactions that keep the functions of triggers up to date, on connections of a pool. */
    FUNCTIONS("functions");

    private final String work;

    Name(String work) {
      this.work = work;
    }

    public String of(Target target) {
      return "coatcheck " + work + " " + target.run();
    }
  }

  private final Session session;
  private final SessionStore store;
  private final Consumer<Optional<LockWait>> waits;

  private SourceSession(Session session, Target target, Consumer<Optional<LockWait>> waits) {
    this.session = session;
    this.store = new SessionStore(session, target);
    this.waits = waits;
  }

  /**
   * Connects for the runner with this fence, and ends what an earlier runner of the same run may
   * still have under way: the server goes on with an index after its client has died or was cut
   * off, and nothing in the catalog can be relied on until it has ended. So does it end what an
   * instance has done by the way for the run and has long not ended: this runner would wait for it.
   *
   * @param fence 0 for a caller that is not a runner
   * @param waits is told what the session waits for, and that it doesn't any more
   * @throws FenceLost if a later runner was here
   * @throws DatabaseUnavailable if the source can't be reached, or what is under way doesn't end
   */
  public static SourceSession open(
      DatabaseSettings settings,
      WatchTimeouts timeouts,
      Target target,
      long fence,
      Consumer<Optional<LockWait>> waits) {
    Session session = Session.openWatched(settings, Name.RUNNER.of(target), timeouts, waits);
    SourceSession opened = new SourceSession(session, target, waits);
    try {
      opened.takeOver(fence);
      return opened;
    } catch (RuntimeException failed) {
      opened.close();
      throw failed;
    }
  }

  /** A runner that slept while another took over must not end that one's work. */
  private void takeOver(long fence) {
    if (fence > 0 && store.isFenced(fence)) {
      throw new FenceLost();
    }
    if (!store.endOthers()) {
      throw new DatabaseUnavailable("the end of what an earlier runner has under way");
    }
    if (fence > 0) {
      fence(fence);
    }
  }

  /**
   * Makes every earlier runner's next batch fail.
   *
   * @throws FenceLost if a later runner was here
   */
  public void fence(long fence) {
    if (!store.fence(fence)) {
      throw new FenceLost();
    }
  }

  public Session session() {
    return session;
  }

  /** Tells what keeps the run waiting in the source. */
  public void waitsFor(Optional<LockWait> wait) {
    waits.accept(wait);
  }

  /** The pool of a source, whose transactions are found, and ended, by a name. */
  public static Database named(Database source, Name name, Target target) {
    return source.begunBy(TransactionStart.named(name.of(target)));
  }

  @Override
  public void close() {
    session.close();
  }
}
