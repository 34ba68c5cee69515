package dev.coatcheck.app.demo;

import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.connection.SmallPool;
import dev.coatcheck.postgres.sql.PlainSql;
import java.sql.SQLException;
import java.util.List;
import java.util.function.Supplier;
import org.jooq.DSLContext;
import org.jooq.SQLDialect;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;

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
  private final DSLContext sql;

  private ShopStore(SmallPool pool) {
    this.pool = pool;
    this.sql = DSL.using(pool, SQLDialect.POSTGRES);
  }

  /** Opens the pool; nothing is there yet. */
  static ShopStore open(DatabaseSettings database) {
    // Without the time-outs of the gateway's connections, which an application doesn't have.
    return new ShopStore(
        SmallPool.open(
            new DatabaseSettings(database.url(), database.user(), database.password(), 2), "shop"));
  }

  void make(ShopSize size) throws ShopFailed {
    run(TABLES);
    run(CUSTOMERS, size.customers());
    for (long from = 1; from <= size.orders(); from += ORDERS_AT_A_TIME) {
      long last = Math.min(from + ORDERS_AT_A_TIME - 1, size.orders());
      run(ORDERS, size.customers(), size.orders(), size.orders(), from, last);
      run(LINES, from, last);
    }
    run(INDEXES);
  }

  /** Takes an order of three lines, and returns its key. */
  long insert(Release release, long customer) throws ShopFailed {
    return ask(
        () ->
            sql.transactionResult(
                transaction -> {
                  long key =
                      PlainSql.row(
                          transaction.dsl(),
                          "insert into shop.orders (customer_id, total_cents) values (?, ?)"
                              + " returning "
                              + release.key,
                          row -> row.getLong(1),
                          customer,
                          1_999);
                  PlainSql.execute(
                      transaction.dsl(),
                      "insert into shop.order_lines (%s, product, quantity) select ?, 'Product ' || n, 1 from generate_series(1, 3) as n"
                          .formatted(release.reference),
                      key);
                  return key;
                }));
  }

  /** Whether there was such an order. */
  boolean pay(Release release, long key) throws ShopFailed {
    return run(
            "update shop.orders set state = 'paid', total_cents = total_cents + 1 where "
                + release.key
                + " = ?",
            key)
        == 1;
  }

  /** Whether there was such an order. */
  boolean delete(Release release, long key) throws ShopFailed {
    return run("delete from shop.orders where " + release.key + " = ?", key) == 1;
  }

  /**
   * Orders between two numbers that have their new keys; none while there is no column for them.
   */
  List<OldOrder> filled(long from, long to) throws ShopFailed {
    return ask(
        () ->
            PlainSql.rows(
                sql,
                "select id, key from (select id, (to_jsonb(o) ->> 'snowflake_id')::bigint as key"
                    + " from shop.orders as o where id between ? and ?) as one where key is not"
                    + " null",
                row -> new OldOrder(row.getLong(1), row.getLong(2)),
                from,
                to));
  }

  long orders() throws ShopFailed {
    return ask(() -> PlainSql.row(sql, "select count(*) from shop.orders", row -> row.getLong(1)));
  }

  @Override
  public void close() {
    pool.close();
  }

  /** How many rows the statement changed. */
  private int run(String statement, Object... values) throws ShopFailed {
    return ask(() -> PlainSql.execute(sql, statement, values));
  }

  private <T> T ask(Supplier<T> work) throws ShopFailed {
    try {
      return work.get();
    } catch (DataAccessException failed) {
      SQLException reported = failed.getCause(SQLException.class);
      throw new ShopFailed(
          String.valueOf((reported == null ? failed : reported).getMessage()), failed);
    }
  }
}
