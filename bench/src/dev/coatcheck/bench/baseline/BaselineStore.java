package dev.coatcheck.bench.baseline;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.bench.load.Callers;
import dev.coatcheck.bench.load.LoadResult;
import dev.coatcheck.bench.machine.CpuClock;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.postgres.connection.DatabaseSettings;
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
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

/** The rows that are asked for, and the same reads by a pool of plain JDBC connections. */
final class BaselineStore {
  private static final String SELECT =
      "select key, created_at, token, type_id, status from coatcheck.public_id"
          + " where bucket = ? and token = ?";

  private static final String BACKEND =
      "select case when inet_client_addr() is null or inet_client_addr() <<= '127.0.0.0/8'"
          + " or inet_client_addr() = '::1' then pg_backend_pid() else 0 end";

  private static final int FILL_ROWS = 100_000;
  private static final int POOL_WAIT_MILLIS = 30_000;

  private final DatabaseSettings settings;

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

  /** The CPU of Postgres, where it runs on this machine. */
  CpuClock cpu() {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(BACKEND)) {
      row.next();
      long pid = row.getLong(1);
      return pid == 0 ? CpuClock.unknown() : CpuClock.ofPostgres(pid);
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
  }

  /** Inserts the numbered rows, and makes a table for the writes of the baselines with the same. */
  void fill(String type, int rows) {
    try (Connection connection = connect();
        PreparedStatement insert = connection.prepareStatement(NumberedRows.INSERT)) {
      for (int from = 0; from < rows; from += FILL_ROWS) {
        insert.setLong(1, from);
        insert.setLong(2, Math.min(rows, from + FILL_ROWS) - 1);
        insert.setString(3, type);
        insert.executeUpdate();
      }
    } catch (SQLException failed) {
      throw new IllegalStateException(failed);
    }
    execute("create table coatcheck.bench_row (like coatcheck.public_id including all)");
    execute("insert into coatcheck.bench_row select * from coatcheck.public_id");
    execute("create sequence coatcheck.bench_key cache 32 owned by coatcheck.bench_row.key");
    number("select setval('coatcheck.bench_key', max(key)) from coatcheck.bench_row");
    execute("vacuum analyze coatcheck.public_id");
    execute("vacuum analyze coatcheck.bench_row");
    execute("checkpoint");
  }

  /** Drops the table and the sequence of the baselines. */
  void drop() {
    execute("drop table if exists coatcheck.bench_row");
  }

  /** Callers that borrow a connection of a pool for each row, so many rows a second. */
  LoadResult pooledSelects(int callers, int poolSize, int rows, Duration time, double perSecond) {
    HikariConfig config = new HikariConfig();
    config.setPoolName("baseline");
    config.setJdbcUrl(settings.url());
    config.setUsername(settings.user());
    config.setPassword(settings.password());
    config.setMinimumIdle(poolSize);
    config.setMaximumPoolSize(poolSize);
    config.setConnectionTimeout(POOL_WAIT_MILLIS);
    try (HikariDataSource pool = new HikariDataSource(config)) {
      openAll(pool, poolSize);
      Runnable call =
          () -> {
            try (Connection connection = pool.getConnection();
                PreparedStatement select = connection.prepareStatement(SELECT)) {
              read(select, rows);
            } catch (SQLException failed) {
              throw new IllegalStateException(failed);
            }
          };
      return Callers.open(
          Collections.nCopies(callers, call),
          time,
          perSecond,
          Thread.ofVirtual().name("baseline").factory());
    }
  }

  /** Before the load: to connect is no part of the time of a select. */
  private static void openAll(HikariDataSource pool, int connections) {
    List<Connection> all = new ArrayList<>();
    try {
      for (int i = 0; i < connections; i++) {
        all.add(pool.getConnection());
      }
    } catch (SQLException refused) {
      throw new IllegalStateException(refused);
    } finally {
      all.forEach(BaselineStore::close);
    }
  }

  /** Clients with a connection each, which read a random row at a time. */
  LoadResult selects(int clients, int rows, Duration time) {
    return run(
        clients,
        time,
        connection -> {
          PreparedStatement select = prepare(connection, SELECT);
          return () -> read(select, rows);
        });
  }

  /** Clients with a connection each, which run a statement without parameters at a time. */
  LoadResult repeats(String sql, int clients, Duration time) {
    return run(
        clients,
        time,
        connection -> {
          PreparedStatement statement = prepare(connection, sql);
          return statement::executeUpdate;
        });
  }

  /** A call that Postgres may refuse. */
  @FunctionalInterface
  private interface Call {
    void run() throws SQLException;
  }

  private LoadResult run(int clients, Duration time, Function<Connection, Call> prepare) {
    List<Connection> connections = new ArrayList<>();
    try {
      List<Runnable> calls = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        connections.add(connect());
        Call call = prepare.apply(connections.getLast());
        calls.add(
            () -> {
              try {
                call.run();
              } catch (SQLException failed) {
                throw new IllegalStateException(failed);
              }
            });
      }
      return Callers.closed(calls, time, Thread.ofPlatform().name("baseline").factory());
    } catch (SQLException refused) {
      throw new IllegalStateException(refused);
    } finally {
      connections.forEach(BaselineStore::close);
    }
  }

  private static void read(PreparedStatement select, int rows) throws SQLException {
    Token token = NumberedRows.token(ThreadLocalRandom.current().nextInt(rows));
    select.setShort(1, (short) token.bucket());
    select.setObject(2, token.toUuid());
    try (ResultSet row = select.executeQuery()) {
      if (!row.next() || row.getLong(1) == 0) {
        throw new IllegalStateException("a row is missing");
      }
    }
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
    properties.setProperty("socketTimeout", "600");
    return DriverManager.getConnection(settings.url(), properties);
  }
}
