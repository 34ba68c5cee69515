package dev.coatcheck.postgres.session;

import dev.coatcheck.postgres.connection.BrokenOff;
import dev.coatcheck.postgres.connection.SqlState;
import dev.coatcheck.postgres.session.LockWait.BlockingSession;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Asks Postgres, on a second connection, for the state of the first connection's backend. The
 * second connection is opened when it is needed, and again after it broke.
 */
final class BackendProbe {
  /** Process IDs are reused, so the start of the process is part of its identity. */
  private static final String OWN_BACKEND =
      "select pid, backend_start::text from pg_stat_activity where pid = pg_backend_pid()";

  private static final String LOOK =
      """
      select a.state, a.state_change::text,
             coalesce(case when p.phase like 'waiting%' then p.phase end,
                      case when a.wait_event_type = 'Lock'
                           then 'waiting for a lock (' || a.wait_event || ')' end),
             b.pid, b.usename, b.application, b.state, b.since
        from pg_stat_activity a
        left join pg_stat_progress_create_index p on p.pid = a.pid
        cross join lateral (select pg_blocking_pids(a.pid) as pids offset 0) as l
        left join (
          select s.pid, s.usename,
                 coalesce(nullif(s.application_name, ''), nullif(s.backend_type, 'client backend')),
                 s.state, coalesce(s.xact_start, s.state_change, s.backend_start)
            from pg_stat_activity s
          union all
          select 0, x.owner, 'prepared transaction ' || quote_literal(x.gid), 'prepared',
                 x.prepared
            from pg_prepared_xacts x where x.database = current_database())
            as b (pid, usename, application, state, since)
          on b.pid = any (l.pids)
          or b.pid = nullif(p.current_locker_pid, 0) and b.pid <> pg_backend_pid()
             and not 0 = any (l.pids)
       where a.pid = ? and a.backend_start = ?::timestamptz
       order by b.since nulls last, b.pid limit 10\
      """;

  private final Login login;
  private final int pid;
  private final String backendStart;
  private @Nullable Connection connection;

  /**
   * Asks the watched connection for its backend. The second connection is opened later.
   *
   * @param login of the second connection
   */
  BackendProbe(Connection watched, Login login) throws SQLException {
    this.login = login;
    try (PreparedStatement statement = watched.prepareStatement(OWN_BACKEND);
        ResultSet row = statement.executeQuery()) {
      if (!row.next()) {
        throw new SQLException(
            "the server doesn't show our own process", SqlState.CONNECTION_FAILURE);
      }
      this.pid = row.getInt(1);
      this.backendStart = row.getString(2);
    }
  }

  /**
   * @param stateChange the time as Postgres writes it
   */
  record Seen(String state, String stateChange, Optional<LockWait> awaits) {}

  int pid() {
    return pid;
  }

  /**
   * Asks now.
   *
   * @param operation the caller's name for the running statement
   * @param millisMax for connecting, and again for the answer
   * @return empty if the backend is gone
   */
  Optional<Seen> ask(String operation, int millisMax) throws SQLException {
    Connection asking = connection(millisMax);
    asking.setNetworkTimeout(Runnable::run, millisMax);
    try (PreparedStatement statement = asking.prepareStatement(LOOK)) {
      statement.setInt(1, pid);
      statement.setString(2, backendStart);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? Optional.of(seen(operation, row)) : Optional.empty();
      }
    }
  }

  private Connection connection(int millisMax) throws SQLException {
    Connection known = connection;
    if (known == null) {
      known = login.connect(Math.ceilDiv(millisMax, 1_000));
      connection = known;
    }
    return known;
  }

  private static Seen seen(String operation, ResultSet row) throws SQLException {
    // Without track_activities the state is not known.
    String state = Objects.requireNonNullElse(row.getString(1), "disabled");
    String stateChange = Objects.requireNonNullElse(row.getString(2), "");
    String event = row.getString(3);
    List<BlockingSession> sessions = new ArrayList<>();
    do {
      int blocker = row.getInt(4);
      if (!row.wasNull()) {
        OffsetDateTime since = row.getObject(8, OffsetDateTime.class);
        sessions.add(
            new BlockingSession(
                blocker,
                row.getString(5),
                row.getString(6),
                row.getString(7),
                since == null ? null : since.toInstant()));
      }
    } while (row.next());
    Optional<LockWait> awaits =
        event == null && sessions.isEmpty()
            ? Optional.empty()
            : Optional.of(
                new LockWait(
                    operation,
                    Objects.requireNonNullElse(event, "waiting for other sessions"),
                    sessions));
    return new Seen(state, stateChange, awaits);
  }

  /** Closes the second connection. The next question opens a new one. */
  void close() {
    Connection known = connection;
    connection = null;
    if (known != null) {
      BrokenOff.close(known);
    }
  }
}
