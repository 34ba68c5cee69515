package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.sql.DatabaseSettings;
import dev.coatcheck.postgres.sql.Session;

/** The one connection of a run's runner to the source, under a name by which it can be found. */
public final class SourceSession implements AutoCloseable {
  private final Session session;
  private final SessionStore store;

  private SourceSession(Session session, Target target) {
    this.session = session;
    this.store = new SessionStore(session, target);
  }

  /**
   * Connects, and ends what an earlier runner of the same run may still have under way: the server
   * goes on with an index after its client has died.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the source can't be reached
   */
  public static SourceSession open(DatabaseSettings settings, Target target) {
    String name = "coatcheck run " + target.run();
    SourceSession opened = new SourceSession(Session.open(settings, name), target);
    opened.store.endOthers(name);
    return opened;
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

  @Override
  public void close() {
    session.close();
  }
}
