package dev.coatcheck.postgres.sql;

import com.zaxxer.hikari.HikariConfig;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.observe.RootCause;
import dev.coatcheck.postgres.connection.BrokenOff;
import dev.coatcheck.postgres.connection.ConnectionDesync;
import dev.coatcheck.postgres.connection.Connections;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.connection.Shards;
import dev.coatcheck.postgres.connection.SqlState;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jooq.DSLContext;
import org.jooq.exception.DataAccessException;

/**
 * Connections to a streaming replica. A caller waits no longer than it wants to, even for a replica
 * that is silent: its statement runs on a thread of its own and is left behind. That thread takes a
 * connection that is free, or none, and is broken off after {@value #WORK_MILLIS} ms more. Free
 * connections are tested in the background, so that none is found dead by a request.
 */
public final class ReplicaPool implements AutoCloseable {
  private static final int CONNECT_SECONDS = 3;
  private static final int SOCKET_SECONDS = 10;

  /** The least that Hikari takes. */
  private static final long TEST_MILLIS = 30_000;

  /** Too short to wait for a connection, by what {@link Connections} leaves for the pool. */
  private static final int WORK_MILLIS = 450;

  private static final Duration WORK_MAX = Duration.ofMillis(WORK_MILLIS);

  /** Around a statement, so that its rows and what is seen beside them are of one snapshot. */
  private static final String WITNESSED =
      """
      select asked.*, witness.is_replica, witness.micros
        from ({text}) as asked
       cross join (
        select pg_is_in_recovery() as is_replica,
               (select {micros} from coatcheck.change where number = ?) as micros) as witness
      """
          .replace("{micros}", KnownChange.MICROS);

  private static final String STATE =
      """
      select control.system_identifier, database.oid::bigint, checkpoint.timeline_id::bigint
        from pg_control_system() as control, pg_control_checkpoint() as checkpoint,
             pg_database as database
       where database.datname = current_database()
      """;

  private final Connections connections;
  private final DSLContext sql;
  private final Observer observer;

  /** Statements that {@code query} sends, for results that have a row for each question. */
  public interface Work<T> {
    T run(DSLContext sql, PlainSql.Query query);
  }

  /** What came of a question. */
  public sealed interface Reply<T> {
    /**
     * An answer.
     *
     * @param isReplica whether the server took no writes
     * @param hasChange whether the rows are of a snapshot with the change that was named
     */
    record Answered<T>(T result, boolean isReplica, boolean hasChange) implements Reply<T> {}

    /** Every connection is in use, or none is open yet. */
    record Busy<T>(Optional<String> why) implements Reply<T> {}

    record Late<T>() implements Reply<T> {}

    /** The server broke off this statement, for a conflict with what it replays. */
    record Cancelled<T>() implements Reply<T> {}

    record Failed<T>(String why) implements Reply<T> {}
  }

  /** The data of a server. A replica has that of its primary. */
  public record Identity(long systemIdentifier, long databaseNumber) {}

  /**
   * What a server says of itself.
   *
   * @param timeline at the last checkpoint that it has replayed
   */
  public record State(Identity identity, long timeline) {
    static State read(ResultSet row) throws SQLException {
      return new State(new Identity(row.getLong(1), row.getLong(2)), row.getLong(3));
    }
  }

  private ReplicaPool(Connections connections, Observer observer) {
    this.connections = connections;
    this.sql = BrokenOff.statements(connections, Shards.ONE_TABLE);
    this.observer = observer;
  }

  /** Opens the pool without waiting for the replica. */
  public static ReplicaPool open(DatabaseSettings settings, Observer observer) {
    HikariConfig config = new HikariConfig();
    config.setPoolName("replica");
    config.setMetricRegistry(observer.meters());
    config.setKeepaliveTime(TEST_MILLIS);
    return new ReplicaPool(Connections.openBoundedIfPossible(settings, config, WORK_MAX), observer);
  }

  /** Which data a database has. */
  public static Identity identity(Database database) {
    return database.read("identity", sql -> state(sql).identity());
  }

  /** Asks a server once, outside of any pool; empty if it doesn't answer. */
  public static Optional<Identity> identity(DatabaseSettings settings) {
    try (var connection =
            DriverManager.getConnection(
                settings.url(),
                settings.boundedIfPossible().properties(CONNECT_SECONDS, SOCKET_SECONDS, ""));
        var statement = connection.prepareStatement(STATE);
        var rows = statement.executeQuery()) {
      return rows.next() ? Optional.of(State.read(rows).identity()) : Optional.empty();
    } catch (SQLException noAnswer) {
      return Optional.empty();
    }
  }

  private static State state(DSLContext sql) {
    return PlainSql.row(sql, STATE, State::read);
  }

  /**
   * Asks.
   *
   * @param known the rows count only if the server has this change
   * @param patience how long to wait
   */
  public <T> Reply<T> ask(KnownChange known, Duration patience, Work<T> work) {
    return within(
        patience,
        () -> {
          Witness witness = new Witness(known);
          T result = work.run(sql, witness);
          ConnectionDesync.unless(witness.rows > 0, "no row at the replica");
          return new Reply.Answered<>(result, witness.isReplica, witness.hasChange);
        });
  }

  /** Asks what the server is. */
  public Reply<State> state(Optional<KnownChange> known, Duration patience) {
    return within(
        patience,
        () -> {
          State state = state(sql);
          Witness witness = new Witness(known.orElse(new KnownChange(-1, -1)));
          List<Integer> _ = witness.rows(sql, "select 1 as one", row -> row.getInt(1));
          return new Reply.Answered<>(state, witness.isReplica, witness.hasChange);
        });
  }

  private interface Attempt<T> {
    Reply<T> run();
  }

  private <T> Reply<T> within(Duration patience, Attempt<T> attempt) {
    FutureTask<Reply<T>> task =
        new FutureTask<>(() -> Deadline.after(patience.plus(WORK_MAX)).call(() -> lent(attempt)));
    Thread.ofVirtual().name("replica").start(task);
    try {
      return task.get(patience.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      return new Reply.Late<>();
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
      return new Reply.Late<>();
    } catch (ExecutionException failed) {
      throw failed.getCause() instanceof RuntimeException bug
          ? bug
          : new IllegalStateException(failed.getCause());
    }
  }

  private <T> Reply<T> lent(Attempt<T> attempt) {
    try {
      return connections.lend(
          Deadline.current(),
          lent -> {
            try {
              return attempt.run();
            } catch (ConnectionDesync desync) {
              lent.evict();
              throw desync;
            }
          });
    } catch (ConnectionDesync desync) {
      observer.observe(new Event.AnswersMixedUp("replica", desync.toString()));
      return new Reply.Failed<>("a connection was out of step");
    } catch (SQLException | DataAccessException failed) {
      return reply(failed);
    }
  }

  private static <T> Reply<T> reply(Exception failed) {
    String words = RootCause.words(failed);
    if (SqlState.isPoolExhausted(failed)) {
      return new Reply.Busy<>(failed.getCause() == null ? Optional.empty() : Optional.of(words));
    }
    if (SqlState.hasNoRoom(failed)) {
      return new Reply.Busy<>(Optional.of(words));
    }
    return SqlState.isCancelled(failed) || SqlState.isRolledBack(failed)
        ? new Reply.Cancelled<>()
        : new Reply.Failed<>(words);
  }

  /** Closes the connections that are free: most are as dead as the one that failed. */
  public void renew() {
    connections.pool().getHikariPoolMXBean().softEvictConnections();
  }

  @Override
  public void close() {
    connections.close();
  }

  /** Sends statements, and sees with each of their rows whether it counts. */
  private static final class Witness implements PlainSql.Query {
    private final KnownChange known;
    private boolean isReplica = true;
    private boolean hasChange = true;
    private int rows;

    Witness(KnownChange known) {
      this.known = known;
    }

    @Override
    public <T> List<T> rows(
        DSLContext sql, String text, PlainSql.RowReader<T> reader, Object... values) {
      List<Object> all = new ArrayList<>(List.of(values));
      all.add(known.number());
      return PlainSql.rows(
          sql,
          WITNESSED.replace("{text}", text),
          row -> {
            see(row);
            return reader.read(row);
          },
          all.toArray());
    }

    private void see(ResultSet row) throws SQLException {
      rows++;
      isReplica &= row.getBoolean("is_replica");
      hasChange &=
          PlainSql.optionalLong(row, row.findColumn("micros")).orElse(-1) == known.micros();
    }
  }
}
