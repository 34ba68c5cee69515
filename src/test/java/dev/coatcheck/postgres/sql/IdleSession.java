package dev.coatcheck.postgres.sql;

import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The session of the last call, for the next one on the same database: tests call thousands of
 * times, and a new connection takes longer than most statements.
 */
final class IdleSession {
  private record Kept(TestSql database, TestSession session) {}

  private static @Nullable Kept last;

  private IdleSession() {}

  static <T> T call(TestSql database, Function<TestSession, T> work) {
    TestSession session = taken(database).orElseGet(database::session);
    T result;
    try {
      result = work.apply(session);
    } catch (RuntimeException | Error failed) {
      session.close();
      throw failed;
    }
    Kept before =
        session.isAsNew() ? swap(new Kept(database, session)) : new Kept(database, session);
    if (before != null) {
      before.session().close();
    }
    return result;
  }

  private static synchronized @Nullable Kept swap(@Nullable Kept next) {
    Kept before = last;
    last = next;
    return before;
  }

  /** Ends a session of another database, which may be about to be dropped or copied. */
  private static Optional<TestSession> taken(TestSql database) {
    Kept kept = swap(null);
    if (kept == null) {
      return Optional.empty();
    }
    if (kept.database().equals(database) && kept.session().isThere()) {
      return Optional.of(kept.session());
    }
    kept.session().close();
    return Optional.empty();
  }
}
