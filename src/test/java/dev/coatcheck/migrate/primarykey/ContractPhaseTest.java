package dev.coatcheck.migrate.primarykey;

import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.migrate.journal.Asked;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The legacy IDs leave the table and its children, and nothing else does. */
class ContractPhaseTest {
  private static final int ROWS = 2_000;

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theOldColumnsGoAndEverythingElseGoesOn(boolean beside) {
    try (MigrationFixture fixture = MigrationFixture.of(beside)) {
      TableMigration run = switched(fixture);
      List<String> keys =
          texts(fixture, "select id || ' ' || snowflake_id from orders order by id");
      List<String> items =
          texts(
              fixture,
              "select i.id || ' ' || o.snowflake_id from item i"
                  + " join orders o on o.id = i.order_id order by i.id");

      fixture.contract(run);

      assertThat(columns(fixture, "orders"))
          .containsExactly("created_at", "parent_id_snowflake_id", "snowflake_id!");
      assertThat(columns(fixture, "item")).containsExactly("id!", "order_id_snowflake_id!");
      assertThat(columns(fixture, "note")).containsExactly("id!", "order_id_snowflake_id");
      assertThat(
              texts(
                  fixture,
                  "select legacy || ' ' || key from " + archive(fixture) + " order by legacy"))
          .isEqualTo(keys);
      assertThat(texts(fixture, "select id || ' ' || order_id_snowflake_id from item order by id"))
          .isEqualTo(items);
      requireFoundInArchive(fixture, keys.get(6));
      requireUsable(fixture);
      requireNoLeftovers(fixture);
    }
  }

  /**
   * What appears after the last look is seen under the lock, and all that was done can be undone.
   */
  @Test
  void whatComesInTheMiddleKeepsTheColumnAndThePhaseCanBeUndone() {
    try (ShopWithItems shop = new ShopWithItems(500)) {
      MigrationFixture fixture = shop.fixture;
      TableMigration run = fixture.switchKey(fixture.run(shop.plan()));
      List<String> before = shop.catalog();

      try (TestSession reader =
          fixture.sql().begin("lock table item in row exclusive mode", "select 1")) {
        MigrationFixture.done(fixture.contract(run, List.of("old_column")));
        await().until(() -> fixture.now(run).status().waitsFor().isPresent());
        fixture.execute("create view recent as select id from orders");
        assertThat(
                texts(
                    fixture,
                    "with o as (insert into orders default values returning id)"
                        + " select id from o"))
            .as("a row of the last moment is archived")
            .allSatisfy(id -> assertThat(archived(fixture)).contains(id));
        reader.execute("commit");
      }

      assertThat(fixture.await(run, RunState.FAILED).status().reason().orElseThrow())
          .contains("these use the column \"id\" of public.orders: the view public.recent")
          .contains("Let them use snowflake_id, or drop them; then retry.");
      MigrationFixture.done(
          fixture.migrations().undo(run.id(), Phase.CONTRACT, Asked.by(MigrationFixture.ACTOR)));
      fixture.await(run, RunState.DONE);
      assertThat(shop.catalog()).isEqualTo(before);
      assertThat(shop.leftovers())
          .noneMatch(what -> what.contains("archived") && what.startsWith("~"));
      shop.requireSound();

      fixture.execute("drop view recent");
      fixture.contract(run);
      assertThat(columns(fixture, "item")).containsExactly("id!", "n", "order_id_snowflake_id!");
    }
  }

  /** An application that knows the new keys only. */
  @Test
  void nobodyNoticesWhoNamesOnlyTheNewColumns() throws InterruptedException {
    requireUnnoticed(ShopWithItems.ORDERS, 5_000);
  }

  @Test
  @Tag("faults")
  void norWithTwoHundredThousandOrdersAndSixHundredThousandItems() throws InterruptedException {
    requireUnnoticed(200_000, 600_000);
  }

  private static void requireUnnoticed(int orders, int items) throws InterruptedException {
    try (ShopWithItems shop = new ShopWithItems(MigrationFixture.apart(), orders, items)) {
      MigrationFixture fixture = shop.fixture;
      fixture.patience = Duration.ofSeconds(180 + orders / 200);
      TableMigration run = fixture.switchKey(fixture.run(shop.plan()));
      AtomicBoolean isOver = new AtomicBoolean();
      Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
      AtomicLong made = new AtomicLong();
      Latencies latencies = new Latencies();
      List<Thread> writers =
          IntStream.range(0, 3)
              .mapToObj(
                  _ ->
                      Thread.ofPlatform()
                          .start(() -> write(fixture, isOver, made, latencies, errors)))
              .toList();
      await().until(() -> made.get() > 50);

      fixture.contract(run);

      long afterwards = made.get();
      await().until(() -> made.get() > afterwards + 50 || !errors.isEmpty());
      System.out.println("ContractPhaseTest: " + orders + " orders: " + latencies);
      isOver.set(true);
      for (Thread writer : writers) {
        writer.join();
      }
      assertThat(errors).isEmpty();
      assertThat(fixture.count("select count(*) from item where n > 0")).isEqualTo(made.get());
      fixture.await(() -> fixture.outbox(run.target()).lag().entries() == 0);
      Set<String> published = Set.copyOf(published(fixture));
      assertThat(texts(fixture, "select snowflake_id from orders"))
          .filteredOn(key -> !published.contains(key))
          .isEmpty();
    }
  }

  private static void write(
      MigrationFixture fixture,
      AtomicBoolean isOver,
      AtomicLong made,
      Latencies latencies,
      Queue<Throwable> errors) {
    try (TestSession session = fixture.sql().session()) {
      while (!isOver.get()) {
        long began = System.nanoTime();
        session.execute(
            "with o as (insert into orders default values returning snowflake_id)"
                + " insert into item (order_id_snowflake_id, n) select snowflake_id, 1 from o",
            "update item set n = n where order_id_snowflake_id ="
                + " (select max(snowflake_id) from orders)",
            "insert into orders (snowflake_id) select max(snowflake_id) from orders"
                + " on conflict (snowflake_id) do nothing");
        latencies.add(System.nanoTime() - began);
        made.incrementAndGet();
      }
    } catch (RuntimeException | AssertionError failed) {
      errors.add(failed);
    }
  }

  private static List<String> published(MigrationFixture fixture) {
    return fixture.gateway.database.read(
        "test",
        sql -> sql.select(PUBLIC_ID.KEY).from(PUBLIC_ID).fetch(row -> row.value1().toString()));
  }

  private static TableMigration switched(MigrationFixture fixture) {
    fixture.orders(ROWS);
    fixture.execute(
        "alter table orders add column parent_id bigint references orders",
        "update orders set parent_id = id - 1 where id > 1",
        "create table item (id bigserial primary key,"
            + " order_id bigint not null references orders on delete cascade)",
        "create index on item (order_id)",
        "insert into item (order_id) select 1 + n %% %d from generate_series(1, 5000) n"
            .formatted(ROWS),
        "create table note (id bigserial primary key,"
            + " order_id bigint references orders on delete set null)",
        "insert into note (order_id) select nullif(n, 3) from generate_series(1, 10) n");
    return fixture.switchKey(fixture.run(fixture.plan("orders", Optional.of("created_at"))));
  }

  /** A row whose entry was not delivered when the column went, and that somebody asks for. */
  private static void requireFoundInArchive(MigrationFixture fixture, String row) {
    String[] numbers = row.split(" ", 2);
    fixture
        .gateway
        .on
        .sql()
        .execute(
            "delete from coatcheck.public_id where key = " + numbers[1],
            "delete from coatcheck.alias");

    assertThat(
            fixture
                .migrations()
                .legacySource()
                .fillOnDemand(fixture.type, Long.parseLong(numbers[0])))
        .isTrue();

    assertThat(isPublished(fixture, numbers[1])).isTrue();
    assertThat(fixture.migrations().legacySource().fillOnDemand(fixture.type, 1_000_000)).isFalse();
  }

  /** As an application uses the tables that only knows the new keys. */
  private static void requireUsable(MigrationFixture fixture) {
    String key =
        texts(fixture, "insert into orders (created_at) values (now()) returning snowflake_id")
            .getFirst();
    fixture.execute(
        "insert into item (order_id_snowflake_id) values (%s)".formatted(key),
        "insert into note (order_id_snowflake_id) values (%s)".formatted(key));
    await().until(() -> isPublished(fixture, key));
    assertThatThrownBy(() -> fixture.execute("insert into item default values"))
        .hasStackTraceContaining("violates not-null constraint");
    assertThatThrownBy(() -> fixture.execute("insert into item (order_id_snowflake_id) values (1)"))
        .hasStackTraceContaining("violates foreign key constraint");
    fixture.execute("update orders set snowflake_id = 1 where snowflake_id = " + key);
    fixture.execute("delete from orders where snowflake_id = " + key);
    assertThat(fixture.count("select count(*) from item where order_id_snowflake_id = " + key))
        .isZero();
    assertThat(fixture.count("select count(*) from note where order_id_snowflake_id = " + key))
        .isZero();
    fixture.execute(
        "insert into orders (snowflake_id, created_at) values (%s, now())".formatted(key),
        "alter table orders rename snowflake_id to id");
    String renamed =
        texts(fixture, "insert into orders (created_at) values (now()) returning id").getFirst();
    fixture.execute("update orders set id = 1 where id = " + renamed);
    assertThat(
            fixture.count(
                "select count(*) from orders where id in (%s, %s)".formatted(key, renamed)))
        .isEqualTo(2);
    await().until(() -> isPublished(fixture, renamed));
    fixture.execute("truncate orders cascade");
  }

  private static boolean isPublished(MigrationFixture fixture, String key) {
    return fixture.gateway.database.read(
        "test", sql -> sql.fetchExists(PUBLIC_ID, PUBLIC_ID.KEY.eq(Long.parseLong(key))));
  }

  /** What only the legacy IDs needed. */
  private static void requireNoLeftovers(MigrationFixture fixture) {
    assertThat(
            texts(
                fixture,
                "select tgrelid::regclass || ' ' || tgname from pg_trigger where not tgisinternal"
                    + " order by 1"))
        .containsExactly(
            "orders ~coatcheck_insert", "orders ~coatcheck_inserted", "orders ~coatcheck_update");
    assertThat(
            texts(
                fixture,
                "select split_part(proname, '_orders', 1) from pg_proc"
                    + " where pronamespace = 'coatcheck_migration'::regnamespace order by 1"))
        .hasSize(4);
  }

  private static List<String> columns(MigrationFixture fixture, String table) {
    return texts(
        fixture,
        "select attname || case when attnotnull then '!' else '' end from pg_attribute"
            + " where attrelid = '%s'::regclass and attnum > 0 and not attisdropped order by 1"
                .formatted(table));
  }

  private static List<String> archived(MigrationFixture fixture) {
    return texts(fixture, "select legacy from " + archive(fixture));
  }

  private static String archive(MigrationFixture fixture) {
    return texts(
            fixture,
            "select oid::regclass from pg_class where relkind = 'r'"
                + " and relnamespace = 'coatcheck_migration'::regnamespace"
                + " and relname like 'archive%'")
        .getFirst();
  }

  private static List<String> texts(MigrationFixture fixture, String query) {
    return fixture.sql().texts(query);
  }
}
