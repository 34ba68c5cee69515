package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.LockWait;
import dev.coatcheck.postgres.session.Patience;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
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
   * off, and nothing in the catalog can be relied on until it has ended.
   *
   * @param fence 0 for a caller that is not a runner
   * @param waits is told what the session waits for, and that it doesn't any more
   * @throws FenceLost if a later runner was here
   * @throws DatabaseUnavailable if the source can't be reached, or what is under way doesn't end
   */
  public static SourceSession open(
      DatabaseSettings settings,
      Patience patience,
      Target target,
      long fence,
      Consumer<Optional<LockWait>> waits) {
    String name = "coatcheck run " + target.run();
    SourceSession opened =
        new SourceSession(Session.openWatched(settings, name, patience, waits), target, waits);
    try {
      opened.takeOver(name, fence);
      return opened;
    } catch (RuntimeException failed) {
      opened.close();
      throw failed;
    }
  }

  /** A runner that slept while another took over must not end that one's work. */
  private void takeOver(String name, long fence) {
    if (fence > 0 && store.isFenced(fence)) {
      throw new FenceLost();
    }
    if (!store.endOthers(name)) {
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

  @Override
  public void close() {
    session.close();
  }
}
