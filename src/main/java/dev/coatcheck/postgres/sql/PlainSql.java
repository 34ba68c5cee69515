package dev.coatcheck.postgres.sql;

import dev.coatcheck.postgres.connection.BrokenOff;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.jooq.DSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Sends statements as text, with {@code ?} for values; a value may be an array. For statements with
 * names that customers chose, in which jOOQ would look for its own placeholders, and for the
 * statements of every request, which jOOQ would parse and render anew each time.
 */
public final class PlainSql {
  static final String PIN_PATH = "set search_path = pg_catalog, pg_temp";

  private PlainSql() {}

  public interface RowReader<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** Sends a statement and reads its rows, as {@link #rows} does. */
  public interface Query {
    <T> List<T> rows(DSLContext sql, String text, RowReader<T> reader, Object... values);
  }

  /** Sets the search path of a session back, after code of others may have changed it. */
  public static void pinPath(DSLContext sql) {
    execute(sql, PIN_PATH);
  }

  /** How many rows it changed; 0 for a statement that changes none. */
  public static int execute(DSLContext sql, String text, Object... values) {
    return sent(
        sql,
        text,
        values,
        statement -> statement.execute() ? 0 : Math.max(0, statement.getUpdateCount()));
  }

  public static <T> List<T> rows(
      DSLContext sql, String text, RowReader<T> reader, Object... values) {
    return sent(
        sql,
        text,
        values,
        statement -> {
          try (ResultSet result = statement.executeQuery()) {
            List<T> rows = new ArrayList<>();
            while (result.next()) {
              rows.add(reader.read(result));
            }
            return rows;
          }
        });
  }

  /** Sends a statement and takes its answer. */
  private interface Use<T> {
    T of(PreparedStatement statement) throws SQLException;
  }

  private static <T> T sent(DSLContext sql, String text, Object[] values, Use<T> use) {
    return sql.connectionResult(
        connection -> {
          try (PreparedStatement statement = connection.prepareStatement(text)) {
            bind(statement, values);
            return use.of(statement);
          } catch (SQLException | RuntimeException thrown) {
            throw BrokenOff.judged(connection, thrown);
          } catch (Error thrown) {
            BrokenOff.close(connection);
            throw thrown;
          }
        });
  }

  public static <T> Optional<T> first(
      DSLContext sql, String text, RowReader<T> reader, Object... values) {
    return rows(sql, text, reader, values).stream().findFirst();
  }

  public static <T> T row(DSLContext sql, String text, RowReader<T> reader, Object... values) {
    return rows(sql, text, reader, values).getFirst();
  }

  /** The first column of the only row. */
  public static boolean isTrue(DSLContext sql, String text, Object... values) {
    return rows(sql, text, row -> row.getBoolean(1), values).getFirst();
  }

  /** A bigint column that may be null. */
  public static OptionalLong optionalLong(ResultSet row, int column) throws SQLException {
    long value = row.getLong(column);
    return row.wasNull() ? OptionalLong.empty() : OptionalLong.of(value);
  }

  /** A bigint column that may be null. */
  public static @Nullable Long longOrNull(ResultSet row, int column) throws SQLException {
    long value = row.getLong(column);
    return row.wasNull() ? null : value;
  }

  /** A column of type {@code text[]} that isn't null and holds no null. */
  public static List<String> texts(ResultSet row, int column) throws SQLException {
    return List.of((String[]) row.getArray(column).getArray());
  }

  /** A timestamptz column that isn't null. */
  public static Instant instant(ResultSet row, int column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant();
  }

  private static void bind(PreparedStatement statement, Object... values) throws SQLException {
    for (int i = 0; i < values.length; i++) {
      if (values[i] instanceof UUID[] uuids) {
        statement.setArray(i + 1, statement.getConnection().createArrayOf("uuid", uuids));
      } else {
        statement.setObject(i + 1, values[i]);
      }
    }
  }
}
