package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.sql.LockWait.BlockingSession;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks after statements that may last for hours. A connection that is silent is not a statement
 * that is working: a network that swallows everything looks just like it, and neither a time-out of
 * the socket nor TCP's keep-alive through a proxy can tell the two apart.
 *
 * <p>So Postgres is asked about the statement's backend on a second connection, from time to time
 * while the statement is under way. The statement's connection is broken off if the backend is
 * gone, if it is idle although its answer is waited for, or if Postgres doesn't answer the second
 * connection either. A backend that is active is left alone, however long it takes; what it waits
 * for is handed on.
 */
final class BackendWatch implements AutoCloseable {
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
          select 0, null, 'a prepared transaction', 'prepared',
                 (select min(x.prepared) from pg_prepared_xacts x))
            as b (pid, usename, application, state, since)
          on b.pid = any (l.pids) or b.pid = nullif(p.current_locker_pid, 0)
       where a.pid = ? and a.backend_start = ?::timestamptz
       order by b.since nulls last, b.pid limit 10\
      """;

  /** Insufficient resources: Postgres is there, and has no room for us. */
  private static final String NO_ROOM = "53";

  /** The watch is as punctual as this part of the time between two looks. */
  private static final int PARTS = 5;

  private final Login login;
  private final Session.Patience patience;
  private final Consumer<Optional<LockWait>> waits;
  private final Thread thread;
  private @Nullable Connection asking;
  private @Nullable Statement under;
  private boolean isWaitTold;
  private volatile boolean closed;

  /**
   * Watches one connection.
   *
   * @param login of the second connection
   * @param waits is told what the statement waits for, and that it doesn't any more
   */
  BackendWatch(Login login, Session.Patience patience, Consumer<Optional<LockWait>> waits) {
    this.login = login;
    this.patience = patience;
    this.waits = waits;
    this.thread = Thread.ofPlatform().daemon().name(login.applicationName()).start(this::run);
  }

  /**
   * The server's process behind a connection. Numbers of processes come again.
   *
   * @param start as Postgres writes it
   */
  record Backend(int pid, String start) {
    private static final String READ =
        "select pid, backend_start::text from pg_stat_activity where pid = pg_backend_pid()";

    static Backend of(Connection connection) throws SQLException {
      try (PreparedStatement statement = connection.prepareStatement(READ);
          ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          throw new SQLException(
              "the server doesn't show our own process", SqlState.CONNECTION_FAILURE);
        }
        return new Backend(row.getInt(1), row.getString(2));
      }
    }
  }

  /** A statement that is under way. Its fields belong to the watching thread. */
  static final class Statement {
    private final String operation;
    private final Connection connection;
    private final Backend backend;
    private long lookedNano = System.nanoTime();
    private long answeredNano = lookedNano;
    private int silences;
    private String idleMark = "";
    private long idleNano;
    private volatile @Nullable String brokenOff;

    private Statement(String operation, Connection connection, Backend backend) {
      this.operation = operation;
      this.connection = connection;
      this.backend = backend;
    }

    /** Why its connection was broken off by the watch; empty if it was not. */
    Optional<String> brokenOff() {
      return Optional.ofNullable(brokenOff);
    }
  }

  /** What a look saw. */
  private record Seen(String state, String stateChange, Optional<LockWait> awaits) {}

  synchronized Statement begin(String operation, Connection connection, Backend backend) {
    Statement statement = new Statement(operation, connection, backend);
    under = statement;
    return statement;
  }

  synchronized void end() {
    under = null;
    tell(Optional.empty());
  }

  private synchronized @Nullable Statement under() {
    return under;
  }

  private void tell(Optional<LockWait> wait) {
    if (wait.isPresent() || isWaitTold) {
      isWaitTold = wait.isPresent();
      waits.accept(wait);
    }
  }

  private void run() {
    long lookNanos = TimeUnit.MILLISECONDS.toNanos(patience.lookMillis());
    while (!closed) {
      LockSupport.parkNanos(lookNanos / PARTS);
      Statement now = under();
      if (now != null && System.nanoTime() - now.lookedNano >= lookNanos) {
        look(now);
        now.lookedNano = System.nanoTime();
      }
    }
    closeAsking();
  }

  private void look(Statement now) {
    try {
      Optional<Seen> seen = ask(now);
      now.answeredNano = System.nanoTime();
      now.silences = 0;
      if (seen.isEmpty()) {
        breakOff(now, "its process " + now.backend.pid() + " is gone from the server");
      } else {
        judge(now, seen.get());
      }
    } catch (SQLException failed) {
      closeAsking();
      if (SqlState.of(failed).startsWith(NO_ROOM)) {
        now.answeredNano = System.nanoTime();
      } else {
        silent(now);
      }
    }
  }

  /** The second connection may have died by itself: only a new one tells. */
  private void silent(Statement now) {
    now.silences++;
    long silentMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - now.answeredNano);
    if (silentMillis >= patience.silenceMillisMax() && now.silences > 1) {
      breakOff(
          now,
          "the server gives no answer for " + TimeUnit.MILLISECONDS.toSeconds(silentMillis) + " s");
    }
  }

  private void judge(Statement now, Seen seen) {
    if (!seen.state().startsWith("idle")) {
      now.idleMark = "";
      synchronized (this) {
        if (Objects.equals(under, now)) {
          tell(seen.awaits());
        }
      }
      return;
    }
    if (!now.idleMark.equals(seen.stateChange())) {
      now.idleMark = seen.stateChange();
      now.idleNano = System.nanoTime();
    }
    long idleMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - now.idleNano);
    if (idleMillis >= patience.idleMillisMax()) {
      breakOff(
          now, "its answer is lost: process %d is %s".formatted(now.backend.pid(), seen.state()));
    }
  }

  private void breakOff(Statement now, String why) {
    synchronized (this) {
      if (!Objects.equals(under, now)) {
        return;
      }
      under = null;
      now.brokenOff = why;
    }
    // A socket with TLS may wait while it is closed.
    Thread.startVirtualThread(() -> BrokenOff.close(now.connection));
  }

  /** Empty if the backend is gone. */
  private Optional<Seen> ask(Statement now) throws SQLException {
    long silentMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - now.answeredNano);
    int leftMillis =
        Math.clamp(
            patience.silenceMillisMax() - silentMillis,
            Math.ceilDiv(patience.lookMillis(), PARTS),
            patience.answerMillisMax());
    Connection connection = asking(leftMillis);
    connection.setNetworkTimeout(Runnable::run, leftMillis);
    try (PreparedStatement statement = connection.prepareStatement(LOOK)) {
      statement.setInt(1, now.backend.pid());
      statement.setString(2, now.backend.start());
      try (ResultSet row = statement.executeQuery()) {
        return seen(now.operation, row);
      }
    }
  }

  private static Optional<Seen> seen(String operation, ResultSet row) throws SQLException {
    if (!row.next()) {
      return Optional.empty();
    }
    // Without track_activities nothing is known of states.
    String state = Objects.requireNonNullElse(row.getString(1), "disabled");
    String stateChange = Objects.requireNonNullElse(row.getString(2), "");
    String event = row.getString(3);
    List<BlockingSession> sessions = new ArrayList<>();
    do {
      int pid = row.getInt(4);
      if (!row.wasNull()) {
        OffsetDateTime since = row.getObject(8, OffsetDateTime.class);
        sessions.add(
            new BlockingSession(
                pid,
                row.getString(5),
                row.getString(6),
                row.getString(7),
                since == null ? null : since.toInstant()));
      }
    } while (row.next());
    boolean waits = event != null || !sessions.isEmpty();
    return Optional.of(
        new Seen(
            state,
            stateChange,
            waits
                ? Optional.of(
                    new LockWait(
                        operation,
                        Objects.requireNonNullElse(event, "waiting for other sessions"),
                        sessions))
                : Optional.empty()));
  }

  private Connection asking(int millisMax) throws SQLException {
    Connection known = asking;
    if (known == null) {
      known = login.connect(Math.ceilDiv(millisMax, 1_000));
      asking = known;
    }
    return known;
  }

  private void closeAsking() {
    Connection known = asking;
    asking = null;
    if (known != null) {
      BrokenOff.close(known);
    }
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
