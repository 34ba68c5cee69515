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
 * A runner's only connection to the source, identified by its application name. A broken connection
 * is not replaced: the next runner first ends what this one left at the server.
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

  /** Sets it for the rest of a transaction. */
  public static final String BOUND_LOCKS =
      "select set_config('lock_timeout', " + LOCK_TIMEOUT + ", true)";

  /** Identifies the sessions of a run in {@code pg_stat_activity}, so that they can be ended. */
  public enum Name {
    RUNNER("run"),

    /** Transactions of every instance's relay, on pooled connections. */
    OUTBOX("outbox"),

    /** Transactions that fill a row on demand for a look-up, on pooled connections. */
    LOOK_UP("look-up"),

    /** Transactions that update the functions of triggers, on pooled connections. */
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
   * have left. The server continues to build an index after its client has died, and nothing in the
   * catalog is reliable before that ends. Relay and look-up transactions that take too long are
   * ended as well, because this runner would wait for them.
   *
   * @param fence 0 for a caller that is not a runner
   * @param waits is told when the session starts and stops waiting, and for what
   * @throws FenceLost if a later runner has been here
   * @throws DatabaseUnavailable if the source is unavailable, or old work doesn't end
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

  /** A runner that slept while another one took over must not end that runner's work. */
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
   * Makes the next batch of every earlier runner fail.
   *
   * @throws FenceLost if a later runner has been here
   */
  public void fence(long fence) {
    if (!store.fence(fence)) {
      throw new FenceLost();
    }
  }

  public Session session() {
    return session;
  }

  /** Reports what the run waits for in the source. */
  public void waitsFor(Optional<LockWait> wait) {
    waits.accept(wait);
  }

  /** The pool of a source; its transactions can be found and ended by a name. */
  public static Database named(Database source, Name name, Target target) {
    return source.begunBy(TransactionStart.named(name.of(target)));
  }

  @Override
  public void close() {
    session.close();
  }
}
