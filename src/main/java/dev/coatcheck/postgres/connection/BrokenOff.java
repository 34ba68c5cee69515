package dev.coatcheck.postgres.connection;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jooq.ConnectionProvider;
import org.jooq.DSLContext;
import org.jooq.ExecuteContext;
import org.jooq.ExecuteListener;
import org.jooq.SQLDialect;
import org.jooq.conf.RenderQuotedNames;
import org.jooq.conf.Settings;
import org.jooq.impl.DSL;
import org.jooq.impl.DefaultConfiguration;
import org.jooq.impl.DefaultExecuteListenerProvider;
import org.jspecify.annotations.Nullable;
import org.postgresql.jdbc.PgConnection;

/**
 * Closes connections that were left in the middle of a statement: by a time-out of the socket, an
 * interrupt, an answer that makes no sense, a COPY that nobody reads on. What Postgres still sends
 * there would be taken for the answer to the next statement. An error that Postgres itself reports
 * ends the statement properly, and its connection stays in use.
 *
 * <p>The driver's connection is closed, whatever is wrapped around it, so that nothing can be asked
 * on it any more, even if a pool hands it out once more.
 */
public final class BrokenOff implements ExecuteListener {
  /** The connection on which this thread has sent a statement that isn't answered yet. */
  private static final ThreadLocal<@Nullable PgConnection> UNANSWERED = new ThreadLocal<>();

  private BrokenOff() {}

  /**
   * jOOQ over these connections, with an eye on its statements.
   *
   * @param shards of the database, which {@link Shards#of(DSLContext)} tells
   */
  public static DSLContext statements(ConnectionProvider connections, Shards shards) {
    DefaultConfiguration configuration = new DefaultConfiguration();
    configuration.data(Shards.class, shards);
    return DSL.using(
        configuration
            .set(new DefaultExecuteListenerProvider(new BrokenOff()))
            .set(SQLDialect.POSTGRES)
            .set(connections)
            .set(
                new Settings()
                    .withRenderQuotedNames(RenderQuotedNames.EXPLICIT_DEFAULT_UNQUOTED)
                    .withExecuteLogging(false)
                    .withFetchWarnings(false)));
  }

  /** Closes a connection on which a statement failed, unless Postgres itself reported that. */
  public static void closeUnlessAnswered(Connection connection, @Nullable Throwable thrown) {
    if (!SqlState.isAnswer(thrown)) {
      close(connection);
    }
  }

  /**
   * What to throw for a failure of a statement that isn't a COPY. If Postgres didn't report it, the
   * connection is asked what it is like, and closed.
   *
   * @return the failure itself if the connection is in order, as the failure is a bug of ours then;
   *     a {@link ConnectionDesync}; or an outage, if the connection broke or another thread closed
   *     it, when the driver may fail with anything
   */
  public static Exception judged(Connection connection, Exception thrown) {
    if (SqlState.isAnswer(thrown)) {
      return thrown;
    }
    PgConnection own = driversOwn(connection);
    try {
      if (thrown instanceof ConnectionDesync || SqlState.isConnectionLost(thrown)) {
        return thrown;
      }
      return isInStep(own) ? thrown : new ConnectionDesync(thrown);
    } catch (SQLException gone) {
      return new SQLException("the connection is gone", SqlState.CONNECTION_FAILURE, thrown);
    } finally {
      close(connection);
    }
  }

  /**
   * Asks what no other statement asks.
   *
   * @throws SQLException if the connection is gone
   */
  private static boolean isInStep(@Nullable PgConnection own) throws SQLException {
    if (own == null) {
      throw new SQLException("the pool has closed it");
    }
    String asked = "in step at " + System.nanoTime();
    try (Statement statement = own.createStatement();
        ResultSet rows = statement.executeQuery("select '" + asked + "'")) {
      return rows.next() && asked.equals(rows.getString(1));
    } catch (SQLException failed) {
      if (SqlState.isConnectionLost(failed)) {
        throw failed;
      }
      return SqlState.isAnswer(failed);
    } catch (RuntimeException unreadable) {
      if (own.isClosed()) {
        throw new SQLException(unreadable);
      }
      return false;
    }
  }

  /**
   * To be called when nothing should be under way any more. An {@link Error} goes past {@link
   * #exception}, and jOOQ gives the connection back before it says that the statement has ended.
   */
  public static void closeIfUnanswered(Connection connection) {
    PgConnection unanswered = UNANSWERED.get();
    if (unanswered != null && unanswered.equals(driversOwn(connection))) {
      UNANSWERED.remove();
      close(connection);
    }
  }

  /** Ends it without waiting for anything. */
  public static void close(Connection connection) {
    PgConnection own = driversOwn(connection);
    if (own != null) {
      try {
        own.abort(Runnable::run);
      } catch (SQLException impossible) {
        throw new IllegalStateException(impossible);
      }
    }
  }

  static boolean isClosed(Connection connection) {
    PgConnection own = driversOwn(connection);
    try {
      return own == null || own.isClosed();
    } catch (SQLException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** Null if the pool has taken it out of its wrapper, as it does with a connection that failed. */
  private static @Nullable PgConnection driversOwn(Connection connection) {
    try {
      return connection.unwrap(PgConnection.class);
    } catch (SQLException gone) {
      return null;
    }
  }

  @Override
  public void executeStart(ExecuteContext statement) {
    UNANSWERED.set(driversOwn(statement.connection()));
  }

  @Override
  public void executeEnd(ExecuteContext statement) {
    UNANSWERED.remove();
  }

  /** Called before the connection is given back. */
  @Override
  public void exception(ExecuteContext statement) {
    Exception thrown =
        statement.sqlException() == null ? statement.exception() : statement.sqlException();
    // Without a statement there may not even be a connection.
    if (statement.statement() != null && thrown != null) {
      switch (judged(statement.connection(), thrown)) {
        case SQLException failed -> statement.sqlException(failed);
        case RuntimeException failed -> statement.exception(failed);
        case Exception impossible -> throw new IllegalStateException(impossible);
      }
    }
    UNANSWERED.remove();
  }
}
