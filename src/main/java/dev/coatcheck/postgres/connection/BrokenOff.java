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

  /** What this thread found of the connection that it closed last. */
  private static final ThreadLocal<@Nullable Closed> CLOSED = new ThreadLocal<>();

  private record Closed(PgConnection connection, Condition found) {}

  /** What a connection is like after a failure that Postgres didn't report. */
  public enum Condition {
    /** It answers what it is asked: the failure is a bug of ours. */
    IN_STEP,
    /** It answers something else. */
    OUT_OF_STEP,
    /** It broke, or another thread broke it off. */
    GONE
  }

  private BrokenOff() {}

  /** jOOQ over these connections, with an eye on its statements. */
  public static DSLContext statements(ConnectionProvider connections) {
    return DSL.using(
        new DefaultConfiguration()
            .set(new DefaultExecuteListenerProvider(new BrokenOff()))
            .set(SQLDialect.POSTGRES)
            .set(connections)
            .set(
                new Settings()
                    .withRenderQuotedNames(RenderQuotedNames.EXPLICIT_DEFAULT_UNQUOTED)
                    .withExecuteLogging(false)
                    .withFetchWarnings(false)));
  }

  /** To be called for what is thrown while a statement is under way that jOOQ doesn't know of. */
  public static void closeUnlessAnswered(Connection connection, @Nullable Throwable thrown) {
    if (!SqlState.isAnswer(thrown)) {
      close(connection);
    }
  }

  /** The same for a statement that isn't a COPY: it finds out whose fault it is. */
  public static void judgeUnlessAnswered(Connection connection, @Nullable Throwable thrown) {
    PgConnection own = driversOwn(connection);
    if (own != null && thrown instanceof Exception && !SqlState.isConnectionLost(thrown)) {
      if (!SqlState.isAnswer(thrown)) {
        close(own, condition(own));
      }
    } else {
      closeUnlessAnswered(connection, thrown);
    }
  }

  /** What a connection is like, or was like when this thread closed it. */
  static Condition condition(Connection connection) {
    PgConnection own = driversOwn(connection);
    if (own == null) {
      return Condition.GONE;
    }
    Closed closed = CLOSED.get();
    return closed != null && closed.connection().equals(own) ? closed.found() : condition(own);
  }

  /** Asks what no other statement asks. */
  private static Condition condition(PgConnection own) {
    String asked = "in step at " + System.nanoTime();
    try (Statement statement = own.createStatement();
        ResultSet rows = statement.executeQuery("select '" + asked + "'")) {
      return rows.next() && asked.equals(rows.getString(1))
          ? Condition.IN_STEP
          : Condition.OUT_OF_STEP;
    } catch (SQLException failed) {
      if (SqlState.isAnswer(failed)) {
        return Condition.IN_STEP;
      }
      return SqlState.isConnectionLost(failed) ? Condition.GONE : Condition.OUT_OF_STEP;
    } catch (RuntimeException unreadable) {
      return isClosed(own) ? Condition.GONE : Condition.OUT_OF_STEP;
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
      close(own, isClosed(own) ? Condition.GONE : Condition.IN_STEP);
    }
  }

  private static void close(PgConnection own, Condition found) {
    CLOSED.set(new Closed(own, found));
    try {
      own.abort(Runnable::run);
    } catch (SQLException impossible) {
      throw new IllegalStateException(impossible);
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
    // Without a statement there may not even be a connection.
    if (statement.statement() != null) {
      Throwable thrown =
          statement.sqlException() == null ? statement.exception() : statement.sqlException();
      judgeUnlessAnswered(statement.connection(), thrown);
    }
    UNANSWERED.remove();
  }
}
