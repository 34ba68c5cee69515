package dev.coatcheck.migrate.primarykey;

import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.Writers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An application that never stops writing to a table and its children, under a role that may do no
 * more than that. Statements stay prepared for as long as a connection lasts. It locks parents
 * before children and orders in one order, so that a deadlock is never its own doing.
 */
final class Shop implements AutoCloseable {
  static final List<String> CHILDREN =
      List.of("orders.before_id", "item.order_id", "note.order_id", "payment.order_id");

  /** One child for each rule, and a reference of the table to itself. */
  private static final List<String> TABLES =
      List.of(
          """
          create table orders (
            id bigserial primary key, created_at timestamptz not null default now(),
            code text unique, text text, before_id bigint references orders on delete set null)\
          """,
          """
          create table item (
            id bigserial primary key,
            order_id bigint not null references orders on delete cascade, text text)\
          """,
          """
          create table note (
            id bigserial primary key,
            order_id bigint references orders on delete set null, text text unique)\
          """,
          """
          create table payment (
            id bigserial primary key,
            order_id bigint not null references orders deferrable initially deferred)\
          """,
          "create index on item (order_id)",
          "create index on note (order_id)",
          "create index on payment (order_id)",
          "create index on orders (before_id)");

  private static final int OPERATIONS_PER_CONNECTION = 500;

  final AtomicLong provoked = new AtomicLong();

  /** What the notes say that refer to orders that are never deleted. */
  final Map<String, Long> notes = new ConcurrentHashMap<>();

  private final MigrationFixture source;
  final long rows;
  private final String role = "app_" + Long.toHexString(System.nanoTime());
  volatile boolean isSwitched;

  private Shop(MigrationFixture source, long rows) {
    this.source = source;
    this.rows = rows;
  }

  /** The tables, with three items for each order. */
  static Shop of(MigrationFixture source, long rows) {
    TABLES.forEach(source::execute);
    source.execute(
        "insert into orders (created_at, text, before_id)"
            + " select now() - make_interval(secs => 2 * %1$d - n), 'old', nullif(n / 10, 0)"
                .formatted(rows)
            + " from generate_series(1, %d) n".formatted(rows),
        "insert into item (order_id, text) select 1 + n %% %1$d, 'old' from generate_series(1, 3 * %1$d) n"
            .formatted(rows),
        "insert into note (order_id) select 1 + n %% %1$d from generate_series(1, %1$d) n"
            .formatted(rows),
        "analyze");
    Shop shop = new Shop(source, rows);
    source.execute(
        "create role " + shop.role,
        "grant usage on schema public to " + shop.role,
        "grant select, insert, update, delete on all tables in schema public to " + shop.role,
        "grant usage on all sequences in schema public to " + shop.role);
    return shop;
  }

  Writers open(int writers, long seed) {
    return open(writers, seed, ShopWriter.OLD);
  }

  Writers openNewModel(int writers, long seed) {
    return open(writers, seed, ShopWriter.NEW);
  }

  private Writers open(int threads, long seed, List<ShopWriter.Kind> kinds) {
    Writers writers = new Writers();
    for (int i = 0; i < threads; i++) {
      Random random = new Random(seed + i);
      writers.start(() -> write(writers, random, kinds));
    }
    return writers;
  }

  /** Whether new items may name the new keys alone. */
  void switched(boolean now) {
    isSwitched = now;
  }

  /** For as long as a connection lasts. */
  private void write(Writers writers, Random random, List<ShopWriter.Kind> kinds) throws Exception {
    try (Connection connection = source.connect()) {
      ShopWriter writer = new ShopWriter(this, connection, random);
      writer.run("set role " + role);
      for (int i = 0; i < OPERATIONS_PER_CONNECTION && !writers.isStopped(); i++) {
        ShopWriter.Kind kind = kinds.get(random.nextInt(kinds.size()));
        writers.operate(() -> operate(writers, writer, kind));
      }
    }
  }

  private void operate(Writers writers, ShopWriter writer, ShopWriter.Kind kind) throws Exception {
    try {
      kind.operation().run(writer);
    } catch (SQLException refused) {
      if (kind.provokes().contains(String.valueOf(refused.getSQLState()))) {
        provoked.incrementAndGet();
      } else {
        writers.errors.add(refused.getSQLState() + " " + refused.getMessage());
      }
      writer.recover();
    }
  }

  @Override
  public void close() {
    source.execute("drop owned by " + role, "drop role " + role);
  }
}
