package dev.coatcheck.bench.footprint;

import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** Tables of rows with keys of different kinds, and nothing but these keys. */
final class KeyOrderStore {
  private static final int ROWS_A_TIME = 100_000;

  private final EmbeddedDatabase database;

  KeyOrderStore(EmbeddedDatabase database) {
    this.database = database;
  }

  /** What a round took. */
  record Inserted(double seconds, long walBytes) {}

  /** From the next start on. */
  void shrinkBuffers(int megabytes) {
    execute("alter system set shared_buffers = '" + megabytes + "MB'");
  }

  /** Makes the table of a kind, with older keys, until its index is as large. */
  void fill(KeyKind kind, long indexMegabytes) {
    execute(
        "create table %s (key %s primary key, created_at timestamptz not null default now())"
            .formatted(kind.table(), kind.column));
    String older =
        switch (kind) {
          // One for each second of the first weeks of the layout.
          case SNOWFLAKE -> "((%d + n) * 1000) << 22";
          case UUIDV7 -> "uuidv7(interval '-30 days' + (%d + n) * interval '1 ms')";
          case UUIDV4 -> "case when %d + n >= 0 then gen_random_uuid() end";
        };
    for (long rows = 0; indexBytes(kind) < indexMegabytes << 20; rows += ROWS_A_TIME) {
      execute(
          "insert into %s (key) select %s from generate_series(0::bigint, %d) n"
              .formatted(kind.table(), older.formatted(rows), ROWS_A_TIME - 1));
    }
    execute("vacuum analyze " + kind.table());
  }

  /** Inserts keys, a statement and transaction for each list, from a checkpoint on. */
  Inserted insert(KeyKind kind, List<List<String>> statements) {
    execute("checkpoint");
    try (Connection connection = connect();
        PreparedStatement insert =
            connection.prepareStatement(
                "insert into %s (key) select * from unnest(?::%s[])"
                    .formatted(kind.table(), kind.column))) {
      long wal = walBytes(connection);
      long begun = System.nanoTime();
      for (List<String> keys : statements) {
        insert.setArray(1, connection.createArrayOf(kind.column, keys.toArray()));
        insert.executeUpdate();
      }
      double seconds = (System.nanoTime() - begun) / 1e9;
      return new Inserted(seconds, walBytes(connection) - wal);
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  private long indexBytes(KeyKind kind) {
    try (Connection connection = connect()) {
      return number(connection, "select pg_relation_size('" + kind.table() + "_pkey')");
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  private static long walBytes(Connection connection) throws SQLException {
    return number(connection, "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint");
  }

  private static long number(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getLong(1);
    }
  }

  private void execute(String statement) {
    try (Connection connection = connect();
        Statement sent = connection.createStatement()) {
      sent.execute(statement);
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(database.jdbcUrl(), database.user(), database.password());
  }
}
