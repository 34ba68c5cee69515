package dev.coatcheck.migrate.primarykey;

import dev.coatcheck.migrate.run.MigrationFixture;
import java.io.IOException;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.postgresql.PGConnection;

/**
 * An application that never stops writing to a table and its children. Statements stay prepared for
 * as long as a connection lasts. It locks parents before children, so that a deadlock is never its
 * own doing.
 */
final class Shop implements AutoCloseable {
  static final List<String> CHILDREN =
      List.of("orders.before_id", "item.order_id", "note.order_id", "payment.order_id");

  /** Orders that are never deleted. */
  private static final int KEPT = 50;

  private static final int OPERATIONS_PER_CONNECTION = 500;

  private static final String NO_SUCH_COLUMN = "42703";
  private static final String NOT_SERIALIZABLE = "40001";

  /** Another writer has deleted the order. */
  private static final String NO_SUCH_ORDER = "23503";

  final AtomicLong operations = new AtomicLong();
  final AtomicLong provoked = new AtomicLong();
  final Queue<String> errors = new ConcurrentLinkedQueue<>();

  /** What the notes say that refer to orders that are never deleted. */
  final Map<String, Long> notes = new ConcurrentHashMap<>();

  private final MigrationFixture source;
  private final long rows;
  private final List<Thread> threads = new ArrayList<>();
  private volatile Latencies latencies = new Latencies();
  private volatile boolean isSwitched;
  private volatile boolean stopped;

  private interface Operation {
    void run(Writer writer) throws SQLException, IOException;
  }

  /** What an operation does, and the errors that it asks for. */
  private record Kind(Set<String> provokes, Operation operation) {}

  private static final List<Kind> KINDS =
      List.of(
          new Kind(Set.of(), Writer::order),
          new Kind(Set.of(), Writer::orderWithItems),
          new Kind(Set.of(NO_SUCH_ORDER), Writer::orderAfterAnother),
          new Kind(Set.of(), Writer::orderAgain),
          new Kind(Set.of(), Writer::upsertOrder),
          new Kind(Set.of(), Writer::updateOrder),
          new Kind(Set.of(NO_SUCH_ORDER), Writer::deleteOrder),
          new Kind(Set.of(NO_SUCH_ORDER), Writer::item),
          new Kind(Set.of(), Writer::items),
          new Kind(Set.of(), Writer::copyItems),
          new Kind(Set.of(NO_SUCH_ORDER), Writer::moveItem),
          new Kind(Set.of(NO_SUCH_ORDER), Writer::upsertItem),
          new Kind(Set.of(), Writer::deleteItem),
          new Kind(Set.of(), Writer::itemFirstInOneStatement),
          new Kind(Set.of(), Writer::paymentFirst),
          new Kind(Set.of(NO_SUCH_ORDER), Writer::payment),
          new Kind(Set.of(), Writer::note),
          new Kind(Set.of(), Writer::moveNote),
          new Kind(Set.of(NO_SUCH_COLUMN), Writer::itemByTwin),
          new Kind(Set.of(), Writer::rollback),
          new Kind(Set.of(NOT_SERIALIZABLE, NO_SUCH_ORDER), w -> w.isolated("repeatable read")),
          new Kind(Set.of(NOT_SERIALIZABLE, NO_SUCH_ORDER), w -> w.isolated("serializable")));

  private Shop(MigrationFixture source, long rows) {
    this.source = source;
    this.rows = rows;
  }

  /** The tables, with three items for each order. */
  static Shop of(MigrationFixture source, long rows) {
    ShopTables.CREATE.forEach(source::execute);
    source.execute(
        "create index on item (order_id)",
        "create index on note (order_id)",
        "create index on payment (order_id)",
        "create index on orders (before_id)",
        "insert into orders (created_at, text, before_id)"
            + " select now() - make_interval(secs => 2 * %1$d - n), 'old', nullif(n / 10, 0)"
                .formatted(rows)
            + " from generate_series(1, %d) n".formatted(rows),
        "insert into item (order_id, text) select 1 + n %% %1$d, 'old' from generate_series(1, 3 * %1$d) n"
            .formatted(rows),
        "insert into note (order_id) select 1 + n %% %1$d from generate_series(1, %1$d) n"
            .formatted(rows),
        "analyze");
    return new Shop(source, rows);
  }

  void open(int writers, long seed) {
    for (int i = 0; i < writers; i++) {
      Random random = new Random(seed + i);
      threads.add(Thread.ofPlatform().start(() -> write(random)));
    }
  }

  /** Whether new items may name the new keys alone. */
  void switched(boolean now) {
    isSwitched = now;
  }

  /** The latencies since the last call. */
  Latencies latencies() {
    Latencies before = latencies;
    latencies = new Latencies();
    return before;
  }

  private void write(Random random) {
    try {
      while (!stopped) {
        try (Connection connection = source.connect()) {
          Writer writer = new Writer(connection, random);
          for (int i = 0; i < OPERATIONS_PER_CONNECTION && !stopped; i++) {
            operate(writer, KINDS.get(random.nextInt(KINDS.size())));
          }
        }
      }
    } catch (Exception broken) {
      errors.add(broken.toString());
    }
  }

  private void operate(Writer writer, Kind kind) throws SQLException, IOException {
    long began = System.nanoTime();
    try {
      kind.operation().run(writer);
    } catch (SQLException refused) {
      if (kind.provokes().contains(String.valueOf(refused.getSQLState()))) {
        provoked.incrementAndGet();
      } else {
        errors.add(refused.getSQLState() + " " + refused.getMessage());
      }
      writer.recover();
    }
    latencies.add(System.nanoTime() - began);
    operations.incrementAndGet();
  }

  /** One connection's share of the writing. */
  private final class Writer {
    private final Connection connection;
    private final Random random;
    private final Map<String, PreparedStatement> prepared = new HashMap<>();

    Writer(Connection connection, Random random) {
      this.connection = connection;
      this.random = random;
    }

    private long kept() {
      return 1 + random.nextLong(KEPT);
    }

    private long order(long least) {
      return least + random.nextLong(rows - least);
    }

    private long anyItem() {
      return 1 + random.nextLong(3 * rows);
    }

    private PreparedStatement prepare(String sql, Object... values) throws SQLException {
      PreparedStatement statement = prepared.get(sql);
      if (statement == null) {
        statement = connection.prepareStatement(sql);
        prepared.put(sql, statement);
      }
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      return statement;
    }

    private void run(String sql, Object... values) throws SQLException {
      prepare(sql, values).execute();
    }

    private long number(String sql, Object... values) throws SQLException {
      try (ResultSet row = prepare(sql, values).executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }

    private void order() throws SQLException {
      run("insert into orders (text) select 'new' from generate_series(1, ?)", random.nextInt(9));
    }

    private void orderWithItems() throws SQLException {
      begin();
      long id = number("insert into orders (text) values ('of items') returning id");
      run("insert into item (order_id, text) select ?, 'with' from generate_series(1, 3)", id);
      run("insert into note (order_id) values (?)", id);
      commit();
    }

    private void orderAfterAnother() throws SQLException {
      run("insert into orders (text, before_id) values ('after', ?)", order(1));
    }

    private void orderAgain() throws SQLException {
      run("insert into orders (id, text) values (?, 'again') on conflict do nothing", order(1));
    }

    private void upsertOrder() throws SQLException {
      run(
          "insert into orders (id, text) values (?, 'upsert')"
              + " on conflict (id) do update set text = excluded.text",
          order(1));
    }

    private void updateOrder() throws SQLException {
      run("update orders set text = 'updated' where id = ?", order(1));
    }

    private void deleteOrder() throws SQLException {
      begin();
      long id = order(KEPT + 1);
      run("select id from orders where id = ? for update", id);
      run("delete from payment where order_id = ?", id);
      run("delete from orders where id = ?", id);
      commit();
    }

    private void item() throws SQLException {
      run("insert into item (order_id, text) values (?, 'new')", order(1));
    }

    private void items() throws SQLException {
      run(
          "insert into item (order_id, text) select 1 + (? + n) % ?, 'several'"
              + " from generate_series(1, 10) n",
          random.nextInt(KEPT), KEPT);
    }

    private void copyItems() throws SQLException, IOException {
      String lines =
          IntStream.range(0, 20).mapToObj(i -> kept() + "\tcopied\n").collect(Collectors.joining());
      connection
          .unwrap(PGConnection.class)
          .getCopyAPI()
          .copyIn("copy item (order_id, text) from stdin", new StringReader(lines));
    }

    private void moveItem() throws SQLException {
      run("update item set order_id = ? where id = ?", order(1), anyItem());
    }

    private void upsertItem() throws SQLException {
      run(
          "insert into item (id, order_id, text) values (?, ?, 'upsert')"
              + " on conflict (id) do update set order_id = excluded.order_id",
          anyItem(),
          kept());
    }

    private void deleteItem() throws SQLException {
      run("delete from item where id = ?", anyItem());
    }

    private void itemFirstInOneStatement() throws SQLException {
      long id = number("select nextval('orders_id_seq')");
      run(
          "with child as (insert into item (order_id, text) values (?, 'first') returning id),"
              + " parent as (insert into orders (id, text) values (?, 'second') returning id)"
              + " select child.id from child, parent",
          id,
          id);
    }

    private void paymentFirst() throws SQLException {
      begin();
      long id = number("select nextval('orders_id_seq')");
      run("insert into payment (order_id) values (?)", id);
      run("insert into orders (id, text) values (?, 'paid')", id);
      commit();
    }

    private void payment() throws SQLException {
      run("insert into payment (order_id) values (?)", order(1));
    }

    private void note() throws SQLException {
      long id = kept();
      String text = "note " + random.nextLong();
      run("insert into note (order_id, text) values (?, ?)", id, text);
      notes.put(text, id);
    }

    private void moveNote() throws SQLException {
      long id = kept();
      String text = "moved " + random.nextLong();
      run("insert into note (order_id, text) values (null, ?)", text);
      run("update note set order_id = ? where text = ?", id, text);
      notes.put(text, id);
    }

    /** As a new version of the application does it. */
    private void itemByTwin() throws SQLException {
      if (isSwitched) {
        run(
            "insert into item (order_id_snowflake_id, text)"
                + " select snowflake_id, 'by twin' from orders where id = ?",
            kept());
      }
    }

    private void rollback() throws SQLException {
      begin();
      run("insert into orders (text) values ('undone')");
      run("insert into item (order_id, text) values (?, 'undone')", kept());
      connection.rollback();
      connection.setAutoCommit(true);
    }

    private void isolated(String isolation) throws SQLException {
      begin();
      try (Statement statement = connection.createStatement()) {
        statement.execute("set transaction isolation level " + isolation);
      }
      number("select count(*) from orders where id < 100");
      long id = order(1);
      run("insert into item (order_id, text) values (?, 'isolated')", id);
      run("update note set order_id = ? where id = ?", kept(), id);
      commit();
    }

    private void begin() throws SQLException {
      connection.setAutoCommit(false);
    }

    private void commit() throws SQLException {
      connection.commit();
      connection.setAutoCommit(true);
    }

    void recover() throws SQLException {
      if (!connection.getAutoCommit()) {
        connection.rollback();
        connection.setAutoCommit(true);
      }
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

  @Override
  public void close() {
    stop();
  }
}
