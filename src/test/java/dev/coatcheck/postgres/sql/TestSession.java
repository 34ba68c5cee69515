package dev.coatcheck.postgres.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.TransactionState;
import org.postgresql.jdbc.PgConnection;

/**
 * One session beside the code under test: it holds a lock, reads from an old snapshot, or commits
 * late. What it hasn't committed when it is closed is rolled back.
 */
public final class TestSession implements AutoCloseable {
  /** What sessions begin with from then on. */
  private static final Pattern DEFAULTS =
      Pattern.compile("alter (database|role|user|system)", Pattern.CASE_INSENSITIVE);

  private final Connection connection;
  private boolean hasChangedDefaults;

  TestSession(Connection connection) {
    this.connection = connection;
  }

  public TestSession execute(String... statements) {
    try (Statement statement = connection.createStatement()) {
      for (String text : statements) {
        hasChangedDefaults |= DEFAULTS.matcher(text).find();
        statement.execute(text);
      }
      return this;
    } catch (SQLException failed) {
      throw new AssertionError(failed);
    }
  }

  /** Begins a transaction and executes the statements in it. */
  public TestSession begin(String... statements) {
    return execute("begin").execute(statements);
  }

  /** Begins a transaction that sees nothing of what is committed from now on. */
  public TestSession beginSnapshot() {
    return execute("begin isolation level repeatable read", "select count(*) from pg_class");
  }

  public void commit() {
    execute("commit");
  }

  public void rollback() {
    execute("rollback");
  }

  /** The first column of the first row. */
  public @Nullable String text(String query) {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      if (!rows.next()) {
        throw new AssertionError("no row: " + query);
      }
      return rows.getString(1);
    } catch (SQLException failed) {
      throw new AssertionError(query, failed);
    }
  }

  /** The first column of the first row, as a number. */
  public long number(String query) {
    return Long.parseLong(String.valueOf(text(query)));
  }

  /** The first column. */
  public List<String> texts(String query) {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      List<String> values = new ArrayList<>();
      while (rows.next()) {
        values.add(rows.getString(1));
      }
      return values;
    } catch (SQLException failed) {
      throw new AssertionError(query, failed);
    }
  }

  /** The first column, as numbers. */
  public List<Long> numbers(String query) {
    return texts(query).stream().map(Long::valueOf).toList();
  }

  /** The number of its process at the server. */
  public int pid() {
    return Math.toIntExact(number("select pg_backend_pid()"));
  }

  /** Why Postgres refused a statement; empty if it wasn't Postgres. */
  public static String sqlState(AssertionError failed) {
    return failed.getCause() instanceof SQLException cause
        ? Objects.requireNonNullElse(cause.getSQLState(), "")
        : "";
  }

  /** Whether the server still answers here. */
  boolean isThere() {
    try {
      return connection.isValid(1);
    } catch (SQLException failed) {
      throw new AssertionError(failed);
    }
  }

  /** Discards what the session has set and holds; whether it is then as a new one would be. */
  boolean isAsNew() {
    try (Statement statement = connection.createStatement()) {
      boolean isOpen =
          connection.unwrap(PgConnection.class).getTransactionState() != TransactionState.IDLE;
      if (isOpen || hasChangedDefaults) {
        return false;
      }
      statement.execute("discard all");
      return true;
    } catch (SQLException gone) {
      return false;
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException failed) {
      throw new AssertionError(failed);
    }
  }
}
