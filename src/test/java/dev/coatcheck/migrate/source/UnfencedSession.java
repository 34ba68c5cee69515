package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.WatchTimeouts;

/** A session like that of a runner, without its fence. */
public final class UnfencedSession {
  private UnfencedSession() {}

  public static SourceSession open(DatabaseSettings settings, Target target) {
    return SourceSession.open(settings, WatchTimeouts.DEFAULT, target, 0, _ -> {});
  }
}
