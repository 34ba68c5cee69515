package dev.coatcheck.migrate.primarykey;

import java.io.IOException;
import java.io.StringReader;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.postgresql.PGConnection;

/** One connection's share of what the {@link Shop} writes. */
final class ShopWriter {
  /** Orders that are never deleted. */
  private static final int KEPT = 50;

  private static final String NO_SUCH_COLUMN = "42703";
  private static final String NOT_SERIALIZABLE = "40001";
  private static final String CANCELLED = "57014";

  /** Another writer has deleted the order. */
  private static final String NO_SUCH_ORDER = "23503";

  interface Operation {
    void run(ShopWriter writer) throws SQLException, IOException;
  }

  /** What an operation does, and the errors that it asks for. */
  record Kind(Set<String> provokes, Operation operation) {}

  static final List<Kind> OLD =
      List.of(
          new Kind(Set.of(), ShopWriter::order),
          new Kind(Set.of(), ShopWriter::orderReturning),
          new Kind(Set.of(), ShopWriter::copyOrders),
          new Kind(Set.of(), ShopWriter::orderWithItems),
          new Kind(Set.of(NO_SUCH_ORDER), ShopWriter::orderAfterAnother),
          new Kind(Set.of(), ShopWriter::orderAgain),
          new Kind(Set.of(), ShopWriter::upsertOrder),
          new Kind(Set.of(), ShopWriter::upsertByCode),
          new Kind(Set.of(NO_SUCH_COLUMN), ShopWriter::upsertOfTheKey),
          new Kind(Set.of(NO_SUCH_COLUMN), ShopWriter::updateOfTheKey),
          new Kind(Set.of(), ShopWriter::updateOrder),
          new Kind(Set.of(), ShopWriter::updateDescending),
          new Kind(Set.of(NO_SUCH_ORDER), ShopWriter::deleteOrder),
          new Kind(Set.of(NO_SUCH_ORDER), ShopWriter::moveInOneStatement),
          new Kind(Set.of(NO_SUCH_ORDER), ShopWriter::item),
          new Kind(Set.of(), ShopWriter::items),
          new Kind(Set.of(), ShopWriter::copyItems),
          new Kind(Set.of(NO_SUCH_ORDER), ShopWriter::moveItem),
          new Kind(Set.of(NO_SUCH_ORDER), ShopWriter::upsertItem),
          new Kind(Set.of(), ShopWriter::deleteItem),
          new Kind(Set.of(), ShopWriter::itemFirstInOneStatement),
          new Kind(Set.of(), ShopWriter::paymentFirst),
          new Kind(Set.of(NO_SUCH_ORDER), ShopWriter::payment),
          new Kind(Set.of(), ShopWriter::note),
          new Kind(Set.of(), ShopWriter::moveNote),
          new Kind(Set.of(NO_SUCH_COLUMN), ShopWriter::itemByTwin),
          new Kind(Set.of(), ShopWriter::savepoint),
          new Kind(Set.of(), ShopWriter::rollback),
          new Kind(Set.of(NOT_SERIALIZABLE, NO_SUCH_ORDER), w -> w.isolated("repeatable read")),
          new Kind(Set.of(NOT_SERIALIZABLE, NO_SUCH_ORDER), w -> w.isolated("serializable")),
          new Kind(Set.of(CANCELLED), ShopWriter::timeOut));

  /** Of a version of the application that knows the new keys only. */
  static final List<Kind> NEW = List.of(new Kind(Set.of(), ShopWriter::orderByNewKeys));

  private final Shop shop;
  private final Connection connection;
  private final Random random;
  private final Map<String, PreparedStatement> prepared = new HashMap<>();

  ShopWriter(Shop shop, Connection connection, Random random) {
    this.shop = shop;
    this.connection = connection;
    this.random = random;
  }

  private long kept() {
    return 1 + random.nextLong(KEPT);
  }

  private long order(long least) {
    return least + random.nextLong(shop.rows - least);
  }

  private long anyItem() {
    return 1 + random.nextLong(3 * shop.rows);
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

  void run(String sql, Object... values) throws SQLException {
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

  private void orderReturning() throws SQLException {
    run("insert into orders (text) values ('a'), ('b') returning id, text");
  }

  private void orderAgain() throws SQLException {
    orderAgain(order(1));
  }

  private void orderAgain(long id) throws SQLException {
    run("insert into orders (id, text) values (?, 'again') on conflict do nothing", id);
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
        order(1));
  }

  private void updateOfTheKey() throws SQLException {
    run("update orders set snowflake_id = 7 where id = ?", order(1));
  }

  /** Against the order in which a backfill locks; nobody else locks two of those. */
  private void updateDescending() throws SQLException {
    begin();
    for (long id = kept() + 10; id > 0; id -= 3) {
      run("update orders set text = 'descending' where id = ?", Math.min(id, KEPT));
    }
    commit();
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
    if (random.nextBoolean()) {
      orderAgain(id);
    }
    commit();
  }

  private void moveInOneStatement() throws SQLException {
    run(
        "with gone as (delete from orders where id = ? returning text)"
            + " insert into orders (text) select text from gone",
        order(KEPT + 1));
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
    copy(
        "copy item (order_id, text) from stdin",
        IntStream.range(0, 20).mapToObj(i -> kept() + "\tcopied\n").collect(Collectors.joining()));
  }

  private void copyOrders() throws SQLException, IOException {
    copy("copy orders (text) from stdin", "copied\n".repeat(1 + random.nextInt(50)));
  }

  private void copy(String sql, String lines) throws SQLException, IOException {
    connection.unwrap(PGConnection.class).getCopyAPI().copyIn(sql, new StringReader(lines));
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
    shop.notes.put(text, id);
  }

  private void moveNote() throws SQLException {
    long id = kept();
    String text = "moved " + random.nextLong();
    run("insert into note (order_id, text) values (null, ?)", text);
    run("update note set order_id = ? where text = ?", id, text);
    shop.notes.put(text, id);
  }

  /** As a new version of the application does it. */
  private void itemByTwin() throws SQLException {
    if (shop.isSwitched) {
      run(
          "insert into item (order_id_snowflake_id, text)"
              + " select snowflake_id, 'by twin' from orders where id = ?",
          kept());
    }
  }

  private void orderByNewKeys() throws SQLException {
    run(
        "with o as (insert into orders (text) values ('new model') returning snowflake_id)"
            + " insert into item (order_id_snowflake_id, text)"
            + " select snowflake_id, 'new model' from o");
    run(
        "update item set text = text where order_id_snowflake_id ="
            + " (select max(snowflake_id) from orders)");
    run(
        "insert into orders (snowflake_id) select max(snowflake_id) from orders"
            + " on conflict (snowflake_id) do nothing");
  }

  private void savepoint() throws SQLException {
    begin();
    long id = order(KEPT + 1);
    run("insert into orders (text) values ('before')");
    send("savepoint s");
    run("delete from orders where id = ?", id);
    run("insert into orders (text) values ('undone')");
    send("rollback to savepoint s");
    orderAgain(id);
    commit();
  }

  private void timeOut() throws SQLException {
    begin();
    send("set local statement_timeout = '" + (1 + random.nextInt(10)) + "ms'");
    run("insert into orders (text) select 'never' from generate_series(1, 3000)");
    recover();
  }

  private void rollback() throws SQLException {
    begin();
    run("insert into orders (text) values ('undone')");
    run("insert into item (order_id, text) values (?, 'undone')", kept());
    recover();
  }

  private void isolated(String isolation) throws SQLException {
    begin();
    send("set transaction isolation level " + isolation);
    number("select count(*) from orders where id < 100");
    long id = order(KEPT + 1);
    if (random.nextBoolean()) {
      run("delete from orders where id = ?", id);
      orderAgain(id);
    } else {
      run("insert into item (order_id, text) values (?, 'isolated')", id);
      run("update note set order_id = ? where id = ?", kept(), id);
    }
    commit();
  }

  private void send(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
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
