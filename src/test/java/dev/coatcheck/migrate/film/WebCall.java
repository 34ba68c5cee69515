package dev.coatcheck.migrate.film;

import dev.coatcheck.migrate.film.FilmRental.Table;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** One operation of the application: its connection, its rows, and what its commit acknowledges. */
final class WebCall {
  final Connection connection;
  final FilmLedger.Share share;
  final Random random;
  final String note;
  private final int discs;
  private final List<Runnable> acknowledged = new ArrayList<>();

  /**
   * An attempt.
   *
   * @param note nobody else writes it
   */
  WebCall(Connection connection, FilmLedger.Share share, Random random, String note, int discs) {
    this.connection = connection;
    this.share = share;
    this.random = random;
    this.note = note;
    this.discs = discs;
  }

  /** Counts once the transaction is committed: at once if there is none. */
  void note(Runnable entry) throws SQLException {
    if (connection.getAutoCommit()) {
      entry.run();
    } else {
      acknowledged.add(entry);
    }
  }

  /** A row has this call's note. */
  void wrote(Table table, long id) throws SQLException {
    note(() -> share.wrote(table, id, note));
  }

  void wrote(Table table, List<Long> ids) throws SQLException {
    for (long id : ids) {
      wrote(table, id);
    }
  }

  void deleted(Table table, long id) throws SQLException {
    note(() -> share.deleted(table, id));
  }

  void counted(Table table, long id) throws SQLException {
    note(() -> share.counted(table, id));
  }

  void committed() {
    acknowledged.forEach(Runnable::run);
  }

  /** Any copy of any film; none is ever added or lost. */
  long disc() {
    return 1L + random.nextInt(discs);
  }

  /** A write that reached no row, or too many, is one that was lost. */
  void require(boolean holds) {
    if (!holds) {
      throw new IllegalStateException("a write of " + note + " did not reach its rows");
    }
  }

  /** The first column of the answer, as numbers. */
  List<Long> rows(String sql, Object... values) throws SQLException {
    try (PreparedStatement prepared = connection.prepareStatement(sql)) {
      fill(prepared, values);
      return numbers(prepared.execute() ? prepared.getResultSet() : null);
    }
  }

  long one(String sql, Object... values) throws SQLException {
    List<Long> rows = rows(sql, values);
    if (rows.size() != 1) {
      throw new IllegalStateException(rows.size() + " rows for " + sql);
    }
    return rows.getFirst();
  }

  int change(String sql, Object... values) throws SQLException {
    try (PreparedStatement prepared = connection.prepareStatement(sql)) {
      fill(prepared, values);
      return prepared.executeUpdate();
    }
  }

  /** As JDBC hands keys out, of these columns, or of all if there are none. */
  long key(String column, String sql, Object... values) throws SQLException {
    try (PreparedStatement prepared =
        column.isEmpty()
            ? connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)
            : connection.prepareStatement(sql, new String[] {column})) {
      fill(prepared, values);
      prepared.executeUpdate();
      return numbers(prepared.getGeneratedKeys()).getFirst();
    }
  }

  /** One statement for several rows, in one round trip. */
  void batch(String sql, List<Object[]> rows) throws SQLException {
    try (PreparedStatement prepared = connection.prepareStatement(sql)) {
      for (Object[] row : rows) {
        fill(prepared, row);
        prepared.addBatch();
      }
      prepared.executeBatch();
    }
  }

  void send(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static void fill(PreparedStatement prepared, Object... values) throws SQLException {
    for (int i = 0; i < values.length; i++) {
      prepared.setObject(i + 1, values[i]);
    }
  }

  private static List<Long> numbers(ResultSet result) throws SQLException {
    List<Long> numbers = new ArrayList<>();
    if (result != null) {
      try (result) {
        while (result.next()) {
          numbers.add(result.getLong(1));
        }
      }
    }
    return numbers;
  }
}
