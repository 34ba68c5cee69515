package dev.coatcheck.app.demo;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.SmallPool;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** The shop's own tables, over connections of its own, as an application has them. */
final class ShopStore implements AutoCloseable {
  private static final String TABLES =
      """
      create schema shop;
      create table shop.customers (
        id bigserial primary key, name text not null, created_at timestamptz not null default now());
      create table shop.orders (
        id bigserial primary key,
        customer_id bigint not null references shop.customers,
        total_cents integer not null,
        state text not null default 'new',
        created_at timestamptz not null default now());
      create table shop.order_lines (
        id bigserial primary key,
        order_id bigint not null references shop.orders on delete cascade,
        product text not null,
        quantity integer not null);
      """;

  private static final String CUSTOMERS =
      """
      insert into shop.customers (name, created_at)
      select 'Customer ' || n, now() - interval '2 years' from generate_series(1, ?) as n
      """;

  private static final String ORDERS =
      """
      insert into shop.orders (customer_id, total_cents, state, created_at)
      select 1 + n % ?, 500 + n * 7919 % 20000, 'paid',
             now() - interval '1 hour' - (? - n) * (interval '2 years' / ?)
        from generate_series(?, ?) as n
      """;

  private static final String LINES =
      """
      insert into shop.order_lines (order_id, product, quantity)
      select n, 'Product ' || (n + line) % 97, 1 + n % 4
        from generate_series(?, ?) as n, generate_series(1, 3) as line
      """;

  private static final String INDEXES =
      """
      create index on shop.orders (customer_id);
      create index on shop.order_lines (order_id);
      analyze shop.customers, shop.orders, shop.order_lines;
      """;

  /** Orders in a statement: each has to end before the pool gives its connection up. */
  private static final long ORDERS_AT_A_TIME = 5_000;

  /** Which columns a release of the application knows an order by. */
  enum Release {
    /** Before the switch. */
    OLD_KEYS("id", "order_id"),
    /** The release that is rolled out before the old columns go. */
    NEW_KEYS("snowflake_id", "order_id_snowflake_id");

    private final String key;
    private final String reference;

    Release(String key, String reference) {
      this.key = key;
      this.reference = reference;
    }
  }

  /** An order from before the migration, by its old number and its new key. */
  record OldOrder(long number, long key) {}

  private final SmallPool pool;

  private ShopStore(SmallPool pool) {
    this.pool = pool;
  }

  /** Opens the pool; nothing is there yet. */
  static ShopStore open(DatabaseSettings database) {
    // Without the time-outs of the gateway's connections, which an application doesn't have.
    return new ShopStore(
        SmallPool.open(
            new DatabaseSettings(database.url(), database.user(), database.password(), 2), "shop"));
  }

  void make(ShopSize size) throws ShopFailed {
    script(TABLES);
    ask(connection -> run(connection, CUSTOMERS, size.customers()));
    for (long from = 1; from <= size.orders(); from += ORDERS_AT_A_TIME) {
      long first = from;
      long last = Math.min(first + ORDERS_AT_A_TIME - 1, size.orders());
      ask(
          connection ->
              run(connection, ORDERS, size.customers(), size.orders(), size.orders(), first, last));
      ask(connection -> run(connection, LINES, first, last));
    }
    script(INDEXES);
  }

  private void script(String statements) throws ShopFailed {
    ask(
        connection -> {
          try (Statement statement = connection.createStatement()) {
            return statement.execute(statements);
          }
        });
  }

  /** Takes an order of three lines, and returns its key. */
  long insert(Release release, long customer) throws ShopFailed {
    return ask(
        connection -> {
          connection.setAutoCommit(false);
          long key =
              number(
                  connection,
                  "insert into shop.orders (customer_id, total_cents) values (?, ?) returning "
                      + release.key,
                  customer,
                  1_999);
          run(
              connection,
              "insert into shop.order_lines (%s, product, quantity) select ?, 'Product ' || n, 1 from generate_series(1, 3) as n"
                  .formatted(release.reference),
              key);
          connection.commit();
          return key;
        });
  }

  /** Whether there was such an order. */
  boolean pay(Release release, long key) throws ShopFailed {
    return isOne(
        "update shop.orders set state = 'paid', total_cents = total_cents + 1 where "
            + release.key
            + " = ?",
        key);
  }

  /** Whether there was such an order. */
  boolean delete(Release release, long key) throws ShopFailed {
    return isOne("delete from shop.orders where " + release.key + " = ?", key);
  }

  private boolean isOne(String sql, long key) throws ShopFailed {
    return ask(connection -> run(connection, sql, key) == 1);
  }

  /**
   * Orders between two numbers that have their new keys; none while there is no column for them.
   */
  List<OldOrder> filled(long from, long to) throws ShopFailed {
    return ask(
        connection -> {
          try (PreparedStatement statement =
                  prepared(
                      connection,
                      "select id, key from (select id, (to_jsonb(o) ->> 'snowflake_id')::bigint as"
                          + " key from shop.orders as o where id between ? and ?) as one where key"
                          + " is not null",
                      from,
                      to);
              ResultSet rows = statement.executeQuery()) {
            List<OldOrder> orders = new ArrayList<>();
            while (rows.next()) {
              orders.add(new OldOrder(rows.getLong(1), rows.getLong(2)));
            }
            return orders;
          }
        });
  }

  long orders() throws ShopFailed {
    return ask(connection -> number(connection, "select count(*) from shop.orders"));
  }

  @Override
  public void close() {
    pool.close();
  }

  /** Work on one connection, which the pool takes back as it was. */
  @FunctionalInterface
  private interface Work<T> {
    T on(Connection connection) throws SQLException;
  }

  private <T> T ask(Work<T> work) throws ShopFailed {
    try (Connection connection = pool.getConnection()) {
      return work.on(connection);
    } catch (SQLException failed) {
      throw new ShopFailed(String.valueOf(failed.getMessage()), failed);
    }
  }

  private static long number(Connection connection, String sql, Object... values)
      throws SQLException {
    try (PreparedStatement statement = prepared(connection, sql, values);
        ResultSet row = statement.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  private static int run(Connection connection, String sql, Object... values) throws SQLException {
    try (PreparedStatement statement = prepared(connection, sql, values)) {
      return statement.executeUpdate();
    }
  }

  private static PreparedStatement prepared(Connection connection, String sql, Object... values)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
    return statement;
  }
}
