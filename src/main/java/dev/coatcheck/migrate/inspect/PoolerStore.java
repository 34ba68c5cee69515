package dev.coatcheck.migrate.inspect;

import dev.coatcheck.postgres.sql.DatabaseSettings;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.PlainSql;
import dev.coatcheck.postgres.sql.Session;
import java.util.List;
import java.util.Set;
import org.jooq.exception.DataAccessException;

/**
 * Finds out whether a pooler that works by transactions stands before a server. A run needs a
 * session of its own: it sets what must last, and ends and watches backends by their number.
 *
 * <p>Two connections ask in turn which backend serves them. One that is served by several, or two
 * that are served by the same, aren't connected to a backend. The order is that of Thue and Morse:
 * a pooler that goes round two backends would look like none to who simply alternates.
 */
final class PoolerStore {
  private static final int ASKS_MAX = 20;

  /** What was prepared on another backend: no such statement there, or another of that name. */
  private static final Set<String> PREPARED_ELSEWHERE = Set.of("26000", "42P05");

  private static final String BACKEND = "select pg_catalog.pg_backend_pid()";

  private PoolerStore() {}

  /**
   * Whether there is one.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the source can't be reached
   */
  static boolean isBetween(DatabaseSettings settings) {
    try (Session even = Session.openUnpinned(settings, "coatcheck plan");
        Session odd = Session.openUnpinned(settings, "coatcheck plan")) {
      int evenBackend = backend(even);
      int oddBackend = backend(odd);
      for (int ask = 2; ask < ASKS_MAX; ask++) {
        if (Integer.bitCount(ask) % 2 == 0) {
          if (backend(even) != evenBackend) {
            return true;
          }
        } else if (backend(odd) != oddBackend) {
          return true;
        }
      }
      return evenBackend == oddBackend || refusesSettings(settings);
    } catch (DataAccessException refused) {
      if (PREPARED_ELSEWHERE.contains(refused.sqlState())) {
        return true;
      }
      throw refused;
    }
  }

  /** A pooler of another mode that takes no settings: sessions of a run begin with some. */
  private static boolean refusesSettings(DatabaseSettings settings) {
    try {
      Session.open(settings, "coatcheck plan").close();
      return false;
    } catch (DatabaseUnavailable refused) {
      if (String.valueOf(refused.getCause()).contains("unsupported startup parameter")) {
        return true;
      }
      throw refused;
    }
  }

  private static int backend(Session session) {
    List<Integer> answer =
        session.transaction("inspect", sql -> PlainSql.rows(sql, BACKEND, row -> row.getInt(1)));
    return answer.getFirst();
  }
}
