package dev.coatcheck.migrate.run;

import java.io.StringReader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.postgresql.PGConnection;

/**
 * A customer's application that never stops writing to {@code public.orders}, under a role that may
 * do no more than that. It keeps to one order of locks, so that a deadlock is never its own doing.
 */
final class Application implements AutoCloseable {
  static final String TABLE =
      """
      create table orders (
        id bigserial primary key, created_at timestamptz not null default now(),
        code text unique, text text)\
      """;

  private static final int HOT_IDS = 20;
  private static final String NO_SUCH_COLUMN = "42703";
  private static final String NOT_SERIALIZABLE = "40001";
  private static final String CANCELLED = "57014";

  final AtomicLong operations = new AtomicLong();
  final AtomicLong provoked = new AtomicLong();
  final AtomicLong longestNanos = new AtomicLong();
  final Queue<String> errors = new ConcurrentLinkedQueue<>();
  private final MigrationFixture source;
  private final long rows;
  private final String role;
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopped;

  private interface Operation {
    void run(Writer writer) throws SQLException, java.io.IOException;
  }

  /** What an operation does, and the errors that it asks for. */
  private record Kind(Set<String> provokes, Operation operation) {}

  private static final List<Kind> KINDS =
      List.of(
          new Kind(Set.of(), Writer::insert),
          new Kind(Set.of(), Writer::insertSeveral),
          new Kind(Set.of(), Writer::insertReturning),
          new Kind(Set.of(), Writer::copy),
          new Kind(Set.of(), Writer::update),
          new Kind(Set.of(), Writer::updateDescending),
          new Kind(Set.of(), Writer::delete),
          new Kind(Set.of(), Writer::delete),
          new Kind(Set.of(), Writer::insertAgain),
          new Kind(Set.of(), Writer::insertAgain),
          new Kind(Set.of(), Writer::deleteAndInsert),
          new Kind(Set.of(), Writer::moveInOneStatement),
          new Kind(Set.of(), Writer::upsertById),
          new Kind(Set.of(), Writer::upsertByCode),
          new Kind(Set.of(NO_SUCH_COLUMN), Writer::upsertOfTheKey),
          new Kind(Set.of(NO_SUCH_COLUMN), Writer::updateOfTheKey),
          new Kind(Set.of(), Writer::savepoint),
          new Kind(Set.of(), Writer::rollback),
          new Kind(Set.of(NOT_SERIALIZABLE), writer -> writer.isolated("repeatable read")),
          new Kind(Set.of(NOT_SERIALIZABLE), writer -> writer.isolated("serializable")),
          new Kind(Set.of(CANCELLED), Writer::timeOut));

  private Application(MigrationFixture source, long rows, String role) {
    this.source = source;
    this.rows = rows;
    this.role = role;
  }

  /** For a table that holds so many rows. */
  static Application start(MigrationFixture source, long rows, int threads, long seed) {
    String role = "app_" + Long.toHexString(System.nanoTime());
    source.execute(
        "create role " + role,
        "grant usage on schema public to " + role,
        "grant select, insert, update, delete on orders to " + role,
        "grant usage on sequence orders_id_seq to " + role);
    Application application = new Application(source, rows, role);
    for (int i = 0; i < threads; i++) {
      Random random = new Random(seed + i);
      application.threads.add(Thread.ofPlatform().start(() -> application.write(random)));
    }
    return application;
  }

  private void write(Random random) {
    try (Connection connection = source.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("set role " + role);
      Writer writer = new Writer(connection, statement, random);
      while (!stopped) {
        Kind kind = KINDS.get(random.nextInt(KINDS.size()));
        long began = System.nanoTime();
        try {
          kind.operation().run(writer);
        } catch (SQLException refused) {
          settle(kind, connection, refused);
        }
        long took = System.nanoTime() - began;
        longestNanos.accumulateAndGet(took, Math::max);
        operations.incrementAndGet();
      }
    } catch (Exception broken) {
      errors.add(broken.toString());
    }
  }

  private void settle(Kind kind, Connection connection, SQLException refused) throws SQLException {
    if (kind.provokes().contains(String.valueOf(refused.getSQLState()))) {
      provoked.incrementAndGet();
    } else {
      errors.add(refused.getSQLState() + " " + refused.getMessage());
    }
    if (!connection.getAutoCommit()) {
      connection.rollback();
      connection.setAutoCommit(true);
    }
  }

  /** One connection's share of the writing. */
  private final class Writer {
    private final Connection connection;
    private final Statement statement;
    private final Random random;

    Writer(Connection connection, Statement statement, Random random) {
      this.connection = connection;
      this.statement = statement;
      this.random = random;
    }

    /** Any ID that may be there; every third time one of a few that everybody wants. */
    private long id() {
      return 1 + random.nextLong(random.nextInt(3) == 0 ? HOT_IDS : rows);
    }

    private void run(String sql, Object... values) throws SQLException {
      try (PreparedStatement prepared = connection.prepareStatement(sql)) {
        for (int i = 0; i < values.length; i++) {
          prepared.setObject(i + 1, values[i]);
        }
        prepared.execute();
      }
    }

    private void insert() throws SQLException {
      run("insert into orders (text) values ('one')");
    }

    private void insertSeveral() throws SQLException {
      run(
          "insert into orders (text) select 'of several' from generate_series(1, ?)",
          1 + random.nextInt(20));
    }

    private void insertReturning() throws SQLException {
      run("insert into orders (text) values ('a'), ('b') returning id, text");
    }

    private void copy() throws SQLException, java.io.IOException {
      String lines =
          IntStream.range(0, 1 + random.nextInt(50))
              .mapToObj(i -> "line " + i + "\n")
              .collect(Collectors.joining());
      connection
          .unwrap(PGConnection.class)
          .getCopyAPI()
          .copyIn("copy orders (text) from stdin", new StringReader(lines));
    }

    private void update() throws SQLException {
      run("update orders set text = 'new' where id = ?", id());
    }

    /** Against the order in which a backfill locks. */
    private void updateDescending() throws SQLException {
      connection.setAutoCommit(false);
      long id = id() + 10;
      for (long each = id; each > Math.max(0, id - 10); each -= 3) {
        run("update orders set text = 'descending' where id = ?", each);
      }
      commit();
    }

    private void delete() throws SQLException {
      run("delete from orders where id = ?", id());
    }

    private void insertAgain() throws SQLException {
      run("insert into orders (id, text) values (?, 'again') on conflict do nothing", id());
    }

    private void deleteAndInsert() throws SQLException {
      connection.setAutoCommit(false);
      long id = id();
      run("delete from orders where id = ?", id);
      insertAgain(id);
      commit();
    }

    private void insertAgain(long id) throws SQLException {
      run("insert into orders (id, text) values (?, 'again') on conflict do nothing", id);
    }

    private void moveInOneStatement() throws SQLException {
      run(
          "with gone as (delete from orders where id = ? returning id, text)"
              + " insert into orders (text) select text from gone",
          id());
    }

    private void upsertById() throws SQLException {
      run(
          "insert into orders (id, text) values (?, 'upsert')"
              + " on conflict (id) do update set text = excluded.text",
          id());
    }

    private void upsertByCode() throws SQLException {
      run(
          "insert into orders (code, text) values (?, 'by code')"
              + " on conflict (code) do update set text = excluded.text",
          "code " + random.nextInt(200));
    }

    private void upsertOfTheKey() throws SQLException {
      run(
          "insert into orders (id, text) values (?, 'upsert')"
              + " on conflict (id) do update set snowflake_id = excluded.snowflake_id",
          id());
    }

    private void updateOfTheKey() throws SQLException {
      run("update orders set snowflake_id = 7 where id = ?", id());
    }

    private void savepoint() throws SQLException {
      connection.setAutoCommit(false);
      long id = id();
      run("insert into orders (text) values ('before')");
      statement.execute("savepoint s");
      run("delete from orders where id = ?", id);
      run("insert into orders (text) values ('undone')");
      statement.execute("rollback to savepoint s");
      insertAgain(id);
      commit();
    }

    private void rollback() throws SQLException {
      connection.setAutoCommit(false);
      insertSeveral();
      run("delete from orders where id = ?", id());
      connection.rollback();
      connection.setAutoCommit(true);
    }

    private void isolated(String isolation) throws SQLException {
      connection.setAutoCommit(false);
      statement.execute("set transaction isolation level " + isolation);
      statement.execute("select max(id) from orders where id < 100");
      long id = id();
      if (random.nextBoolean()) {
        run("delete from orders where id = ?", id);
      }
      insertAgain(id);
      insertSeveral();
      commit();
    }

    private void timeOut() throws SQLException {
      connection.setAutoCommit(false);
      statement.execute("set local statement_timeout = '" + (1 + random.nextInt(10)) + "ms'");
      run("insert into orders (text) select 'never' from generate_series(1, 3000)");
      connection.rollback();
      connection.setAutoCommit(true);
    }

    private void commit() throws SQLException {
      connection.commit();
      connection.setAutoCommit(true);
    }
  }

  /** Returns when the last operation is through. */
  void stop() {
    stopped = true;
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException hurried) {
        Thread.currentThread().interrupt();
      }
    }
  }

  String figures() {
    return "%d operations, %d errors it asked for, %d others, the longest took %d ms"
        .formatted(operations.get(), provoked.get(), errors.size(), longestNanos.get() / 1_000_000);
  }

  @Override
  public void close() {
    stop();
    source.execute("drop owned by " + role, "drop role " + role);
  }
}
