package dev.coatcheck.migrate.plan;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.session.Session;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.PlainSql;
import java.util.List;
import org.jooq.exception.DataAccessException;

/**
 * Checks what new sessions of a source are like: whether a pooler shares backends between them, or
 * drops their settings. A run needs sessions of its own: their search path keeps code of others
 * out, and backends are watched and ended by their number.
 *
 * <p>Two connections ask in turn which backend serves them. One that is served by several, or two
 * that are served by the same, aren't connected to a backend. The order is that of Thue and Morse:
 * a pooler that rotates between two backends is invisible to a probe that alternates.
 */
final class PoolerStore {
  private static final int ASKS_MAX = 20;

  /** Postgres takes every setting that a session begins with; PgBouncer takes few or none. */
  private static final String REFUSED_SETTING = "unsupported startup parameter";

  /** -1 if the startup settings of the session did not arrive. */
  private static final String BACKEND =
      """
      select case when pg_catalog.current_setting('search_path')
                         operator(pg_catalog.=) 'pg_catalog,pg_temp'
                  then pg_catalog.pg_backend_pid() else -1 end\
      """;

  /** False on a standby, which is refused for another reason. */
  private static final String IS_READ_ONLY =
      """
      select current_setting('default_transaction_read_only')::boolean
             and not pg_is_in_recovery()\
      """;

  private PoolerStore() {}

  /** Whether there is one. */
  static boolean isBetween(DatabaseSettings settings) {
    try (Session even = Session.open(settings, "coatcheck plan");
        Session odd = Session.open(settings, "coatcheck plan")) {
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
      return evenBackend == oddBackend || evenBackend < 0;
    } catch (DataAccessException refused) {
      if (SqlState.isPreparedElsewhere(refused)) {
        return true;
      }
      throw refused;
    } catch (DatabaseUnavailable refused) {
      if (String.valueOf(refused.getCause()).contains(REFUSED_SETTING)) {
        return true;
      }
      throw refused;
    }
  }

  /**
   * Whether transactions of new sessions only read. Those of the pool may have begun before that
   * was altered.
   */
  static boolean isReadOnly(DatabaseSettings settings) {
    try (Session fresh = Session.open(settings, "coatcheck plan")) {
      return fresh.transaction("inspect", sql -> PlainSql.isTrue(sql, IS_READ_ONLY));
    }
  }

  private static int backend(Session session) {
    List<Integer> answer =
        session.transaction("inspect", sql -> PlainSql.rows(sql, BACKEND, row -> row.getInt(1)));
    return answer.getFirst();
  }
}
