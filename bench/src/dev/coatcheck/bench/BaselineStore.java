package dev.coatcheck.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.CopyRows;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.postgresql.PGConnection;
import org.postgresql.copy.PGCopyOutputStream;

/**
 * What a client could do without a gateway: the same reads and writes by plain JDBC, the writes
 * into a table like the one of the mappings, which begins with the same rows.
 */
final class BaselineStore implements AutoCloseable {
  private static final String SELECT =
      "select key, created_at, token, type_id, status from coatcheck.public_id"
          + " where bucket = ? and token = ?";
  private static final String INSERT =
      "insert into coatcheck.bench_row (key, token, type_id, bucket) values (?, ?, 1, ?)";
  private static final String COPY =
      "copy coatcheck.bench_row " + MappingRows.COLUMNS + " from stdin (format binary)";
  private static final int COPY_CHUNK_ROWS = 1_000;
  private static final int FETCH_ROWS = 10_000;
  private static final int POOL_WAIT_MILLIS = 30_000;

  private final DatabaseSettings settings;
  private final AtomicLong nextKey = new AtomicLong();

  BaselineStore(DatabaseSettings settings) {
    this.settings = settings;
  }

  /** Whether any mapping is there; those of a real system must not be measured with. */
  boolean holdsMappings() {
    return number(
            "select (exists (select from coatcheck.public_id)"
                + " or exists (select from coatcheck.public_id_uuid))::int")
        != 0;
  }

  /** Makes the table of the baselines, with the rows that the gateway has minted. */
  void fillTable() {
    execute("create table coatcheck.bench_row (like coatcheck.public_id including all)");
    execute("insert into coatcheck.bench_row select * from coatcheck.public_id");
    execute("vacuum analyze coatcheck.public_id");
    execute("vacuum analyze coatcheck.bench_row");
    nextKey.set(number("select max(key) + 1 from coatcheck.public_id"));
  }

  /** The tokens of all mappings. */
  Tokens tokens() {
    int count = Math.toIntExact(number("select count(*) from coatcheck.public_id"));
    Tokens tokens = new Tokens(count);
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false); // or else the driver reads all rows at once
      statement.setFetchSize(FETCH_ROWS);
      try (ResultSet rows = statement.executeQuery("select token from coatcheck.public_id")) {
        for (int i = 0; i < count && rows.next(); i++) {
          tokens.set(i, Token.of(rows.getObject(1, UUID.class)));
        }
      }
      return tokens;
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  /** Clients with a connection each, which read one random row at a time. */
  Pace selects(int clients, Tokens tokens, Duration time) {
    return run(clients, time, connection -> selecting(connection, tokens));
  }

  /** Callers that borrow a connection of a pool for each row that they read. */
  Pace pooledSelects(int callers, int poolSize, Tokens tokens, Duration time) {
    HikariConfig config = new HikariConfig();
    config.setPoolName("baseline");
    config.setJdbcUrl(settings.url());
    config.setUsername(settings.user());
    config.setPassword(settings.password());
    config.setMinimumIdle(poolSize);
    config.setMaximumPoolSize(poolSize);
    config.setConnectionTimeout(POOL_WAIT_MILLIS);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      Runnable call =
          () -> {
            try (Connection connection = pool.getConnection();
                PreparedStatement select = connection.prepareStatement(SELECT)) {
              read(select, tokens.random());
            } catch (SQLException failed) {
              throw new IllegalStateException(failed);
            }
          };
      return Callers.run(
          Collections.nCopies(callers, call), time, Thread.ofVirtual().name("baseline").factory());
    }
  }

  /** Clients with a connection each, which write one row a transaction. */
  Pace inserts(int clients, Duration time) {
    return run(clients, time, this::inserting);
  }

  /** One COPY, as long as it may last; its pace counts rows. */
  Pace copy(Duration time) {
    long begun = System.nanoTime();
    long end = begun + time.toNanos();
    long rows = 0;
    CopyRows chunk = new CopyRows(COPY_CHUNK_ROWS * MappingRows.ROW_BYTES).begin();
    try (Connection connection = connect()) {
      try (PGCopyOutputStream copy =
          new PGCopyOutputStream(connection.unwrap(PGConnection.class), COPY)) {
        do {
          for (int i = 0; i < COPY_CHUNK_ROWS; i++) {
            MappingRows.put(chunk, nextKey.getAndIncrement(), newToken());
          }
          copy.write(chunk.bytes(), 0, chunk.length());
          chunk.clear();
          rows += COPY_CHUNK_ROWS;
        } while (System.nanoTime() - end < 0);
        chunk.end();
        copy.write(chunk.bytes(), 0, chunk.length());
      }
      double seconds = (System.nanoTime() - begun) / 1e9;
      return new Pace(rows / seconds, seconds * 1e3);
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Override
  public void close() {
    execute("drop table if exists coatcheck.bench_row");
  }

  private Pace run(int clients, Duration time, Function<Connection, Runnable> prepare) {
    List<Connection> connections = new ArrayList<>();
    try {
      List<Runnable> calls = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        connections.add(connect());
        calls.add(prepare.apply(connections.getLast()));
      }
      return Callers.run(calls, time, Thread.ofPlatform().name("baseline").factory());
    } catch (SQLException refused) {
      throw new IllegalStateException(refused);
    } finally {
      connections.forEach(BaselineStore::close);
    }
  }

  private static Runnable selecting(Connection connection, Tokens tokens) {
    PreparedStatement select = prepare(connection, SELECT);
    return () -> {
      try {
        read(select, tokens.random());
      } catch (SQLException failed) {
        throw new IllegalStateException(failed);
      }
    };
  }

  private static void read(PreparedStatement select, Token token) throws SQLException {
    select.setShort(1, (short) token.bucket());
    select.setObject(2, token.toUuid());
    try (ResultSet row = select.executeQuery()) {
      if (!row.next() || row.getLong(1) == 0) {
        throw new IllegalStateException("a row is missing");
      }
    }
  }

  private Runnable inserting(Connection connection) {
    PreparedStatement insert = prepare(connection, INSERT);
    return () -> {
      Token token = newToken();
      try {
        insert.setLong(1, nextKey.getAndIncrement());
        insert.setObject(2, token.toUuid());
        insert.setShort(3, (short) token.bucket());
        insert.executeUpdate();
      } catch (SQLException failed) {
        throw new IllegalStateException(failed);
      }
    };
  }

  /** Cheaper than what the gateway draws: the baseline is Postgres, not the random source. */
  private static Token newToken() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return new Token(random.nextLong(), random.nextLong());
  }

  private static PreparedStatement prepare(Connection connection, String statement) {
    try {
      return connection.prepareStatement(statement);
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  private static void close(Connection connection) {
    try {
      connection.close();
    } catch (SQLException broken) {
      throw new IllegalStateException(broken);
    }
  }

  private long number(String query) {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getLong(1);
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  private void execute(String command) {
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute(command);
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  private Connection connect() throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", settings.user());
    properties.setProperty("password", settings.password());
    properties.setProperty("ApplicationName", "coatcheck bench");
    properties.setProperty("connectTimeout", "3");
    properties.setProperty("socketTimeout", "60");
    return DriverManager.getConnection(settings.url(), properties);
  }
}
