package dev.coatcheck.migrate.primarykey;

import static dev.coatcheck.postgres.sql.schema.Tables.PUBLIC_ID;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.migrate.run.ActionRequest;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.migrate.table.FunctionTable;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The legacy IDs leave the table and its children, and nothing else does. */
class ContractPhaseTest {
  private static final int ROWS = 2_000;

  /** Locks that a phase waits for: all its work is done up to there. */
  private static final String BEFORE_ARCHIVE = "lock table orders in row exclusive mode";

  private static final String AFTER_ARCHIVE = "lock table item in row exclusive mode";

  private static final String BEFORE_DROP = "lock table orders in row share mode";

  private static final String ENABLE_ALWAYS =
      """
      do $$ declare t name; begin
        for t in select tgname from pg_trigger
                  where tgrelid = 'item'::regclass and not tgisinternal loop
          execute format('alter table item enable always trigger %I', t);
        end loop;
      end $$
      """;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.beside();
  private final ShopWithItems shop = new ShopWithItems(fixture);

  @Test
  void theOldColumnsGoAndEverythingElseGoesOn() {
    TableMigration run = switched();
    List<String> keys = fixture.texts("select id || ' ' || snowflake_id from orders order by id");
    List<String> items =
        fixture.texts(
            "select i.id || ' ' || o.snowflake_id from item i"
                + " join orders o on o.id = i.order_id order by i.id");

    fixture.contract(run);

    assertThat(columns("orders"))
        .containsExactly("created_at", "parent_id_snowflake_id", "snowflake_id!");
    assertThat(columns("item")).containsExactly("id!", "order_id_snowflake_id!");
    assertThat(columns("note")).containsExactly("id!", "order_id_snowflake_id");
    assertThat(fixture.texts("select legacy || ' ' || key from " + archive() + " order by legacy"))
        .isEqualTo(keys);
    assertThat(fixture.texts("select id || ' ' || order_id_snowflake_id from item order by id"))
        .isEqualTo(items);
    requireFoundInArchive(keys.get(6));
    requireUsable();
    requireNoLeftovers();
  }

  @Test
  @Tag("faults")
  void theOrderOfATableThatIsClusteredByAnOldColumnIsThatOfTheNewOne() {
    shop.items(100);
    fixture.execute(
        "create index by_order on item (order_id)",
        "alter table item cluster on by_order",
        "alter table orders cluster on orders_pkey");
    fixture.contract(fixture.switchKey(fixture.run()));
    assertThat(
            fixture.texts(
                "select pg_get_indexdef(indexrelid, 1, true) from pg_index"
                    + " where indisclustered order by 1"))
        .containsExactly("order_id_snowflake_id", "snowflake_id");
  }

  /**
   * What appears after the last look is seen under the lock, and all that was done can be undone.
   */
  @Tag("faults")
  @Test
  void whatComesInTheMiddleKeepsTheColumnAndThePhaseCanBeUndone() {
    shop.items(500);
    TableMigration run = fixture.switchKey(fixture.run());
    List<String> before = shop.catalog();

    try (TestSession reader =
        fixture.sql().begin("lock table item in row exclusive mode", "select 1")) {
      MigrationFixture.done(fixture.contract(run, List.of("old_column")));
      await().until(() -> fixture.now(run).status().waitsFor().isPresent());
      fixture.execute("create view recent as select id from orders");
      assertThat(
              fixture.texts(
                  "with o as (insert into orders default values returning id)"
                      + " select id from o"))
          .as("a row of the last moment is archived")
          .allSatisfy(id -> assertThat(archived()).contains(id));
      reader.execute("commit");
    }

    assertThat(fixture.failure(run))
        .contains("these use the column \"id\" of public.orders: the view public.recent")
        .contains("Let them use snowflake_id, or drop them; then retry.");
    fixture.beginUndo(run, Phase.CONTRACT);
    fixture.await(run, RunState.DONE);
    assertThat(shop.catalog()).isEqualTo(before);
    assertThat(shop.leftovers())
        .noneMatch(what -> what.contains("archived") && what.startsWith("~"));
    shop.requireSound();

    fixture.execute("drop view recent");
    fixture.contract(run);
    assertThat(columns("item")).containsExactly("id!", "n", "order_id_snowflake_id!");
  }

  /** What passes our triggers once all was verified would be lost with the old column. */
  @Tag("faults")
  @Test
  void aRowThatIsChangedPastOurTriggersInTheMiddleKeepsTheColumn() {
    shop.items(100);
    TableMigration run = fixture.switchKey(fixture.run());

    whileItContracts(
        run,
        BEFORE_DROP,
        "alter table item disable trigger user",
        "update item set order_id = 7 where id = 1",
        "alter table item enable trigger user");
    assertThat(fixture.failure(run))
        .contains("triggers of the run are missing or disabled on public.item: \"~coatcheck_ref_")
        .contains("with enable always trigger, then retry");

    fixture.execute(ENABLE_ALWAYS);
    fixture.retry(run);
    assertThat(fixture.failure(run)).contains("child_mismatch");
    assertThat(columns("item")).contains("order_id!");
  }

  /** Without an archived legacy ID, a link that has no mapping yet would be lost. */
  @Test
  @Tag("faults")
  void aRowThatPassesTheTriggerOfTheArchiveKeepsTheColumnUntilItIsArchived() {
    shop.items(100);
    fixture.execute("delete from orders where id = 250");
    TableMigration run = fixture.switchKey(fixture.run());

    whileItContracts(
        run,
        AFTER_ARCHIVE,
        "alter table orders disable trigger \"~coatcheck_archived\"",
        "insert into orders (id) values (250)");
    assertThat(fixture.failure(run))
        .startsWith(
            "contract archive: rows are not in the archive with their key,"
                + " the first with the IDs 250.");
    assertThat(archived()).doesNotContain("250");

    fixture.retry(run);
    fixture.await(run, RunState.CONTRACTED);
    assertThat(archived()).contains("250");
  }

  /** Nothing shows under the lock that they were off. */
  @Tag("faults")
  @Test
  void triggersThatAreOffForAMomentAtTheEndKeepTheColumns() {
    shop.items(100);
    TableMigration run = fixture.switchKey(fixture.run());

    whileItContracts(
        run,
        BEFORE_DROP,
        """
        do $$ declare made text := (select pg_get_triggerdef(oid) from pg_trigger
                                     where tgname = '~coatcheck_archived');
        begin
          drop trigger "~coatcheck_archived" on orders;
          insert into orders (id) values (7000);
          execute made;
        end $$\
        """,
        "alter table orders enable always trigger \"~coatcheck_archived\"");
    assertThat(fixture.failure(run))
        .contains("disabled or changed for a while: \"~coatcheck_archived\" of public.orders");
    fixture.retry(run);
    assertThat(fixture.failure(run)).contains("rows are not in the archive", "7000");
    whileItContracts(
        run,
        BEFORE_DROP,
        "alter table item disable trigger user",
        "update item set order_id = 7 where id = 1",
        ENABLE_ALWAYS);
    assertThat(fixture.failure(run)).contains("for a while: \"~coatcheck_ref_");
    fixture.retry(run);
    assertThat(fixture.failure(run)).contains("child_mismatch");
  }

  /** The triggers of a partition are clones, which end as it is detached. */
  @Tag("faults")
  @Test
  void aPartitionThatIsDetachedAtTheEndKeepsNoColumn() {
    fixture.orders(100);
    fixture.execute(
        "create table note (order_id bigint references orders, n int) partition by list (n)",
        "create table note_1 partition of note for values in (1)",
        "create table note_2 partition of note for values in (2)",
        "insert into note select id, 1 from orders",
        "create index on note (order_id)");
    TableMigration run = fixture.switchKey(fixture.run());

    whileItContracts(run, BEFORE_DROP, "alter table note detach partition note_2");

    fixture.await(run, RunState.CONTRACTED);
  }

  /** No public ID has such an ID, but the archive has every row. */
  @Tag("faults")
  @Test
  void aRowBelowTheFirstIdIsArchivedToo() {
    fixture.orders(100);
    TableMigration run = fixture.switchKey(fixture.run());

    whileItContracts(run, BEFORE_ARCHIVE, "insert into orders (id) values (-5)");

    fixture.await(run, RunState.CONTRACTED);
    assertThat(archived()).contains("-5");
    assertThat(verified(run)).contains("missing_mapping");
  }

  /** Executes statements while a lock keeps it, or its retry, from going on. */
  private void whileItContracts(TableMigration run, String lock, String... statements) {
    try (TestSession writer = fixture.sql().begin(lock)) {
      if (fixture.now(run).status().state() == RunState.FAILED) {
        fixture.retry(run);
      } else {
        MigrationFixture.done(fixture.contract(run, List.of("old_column", "row_shape")));
      }
      await().until(() -> fixture.now(run).status().waitsFor().isPresent());
      writer.execute(statements).commit();
    }
  }

  /** It looked the names up before the column went, and then stood still. */
  @Test
  @Tag("faults")
  void aFollowerOfNamesThatIsLateLeavesTheFunctionsThatRemain() {
    fixture.orders(10);
    TableMigration run = fixture.switchKey(fixture.run());
    fixture.execute("alter table orders rename to bookings");
    Target now = CatalogTable.now(fixture.source, run.target()).orElseThrow();
    fixture.contract(run);
    List<String> functions = functions();

    FunctionTable.keepUp(fixture.source, run.target(), now);

    assertThat(functions()).isEqualTo(functions);
    String key =
        fixture.texts("insert into bookings default values returning snowflake_id").getFirst();
    await().until(() -> isPublished(key));
  }

  @Test
  @Tag("faults")
  void theColumnsStayWhileAnotherSessionReplacesTheFunctions() {
    fixture.orders(10);
    TableMigration run = fixture.switchKey(fixture.run());
    int lockClass = TargetSql.LOCK_CLASS + 1;

    try (TestSession other =
        fixture
            .sql()
            .begin(
                "select pg_advisory_xact_lock(%d, %d)"
                    .formatted(lockClass, (int) run.target().oid()))) {
      MigrationFixture.done(fixture.contract(run, List.of("old_column")));
      fixture.await(
          () ->
              fixture.count(
                      "select count(*) from pg_locks where locktype = 'advisory' and not granted"
                          + " and classid = "
                          + lockClass)
                  > 0);
      other.commit();
    }

    fixture.await(run, RunState.CONTRACTED);
  }

  @Test
  @Tag("faults")
  void whatOnlyAPartitionHasKeepsTheColumnToo() {
    fixture.orders(100);
    fixture.execute(
        "create table note (order_id bigint references orders, n int) partition by list (n)",
        "create table note_1 partition of note for values in (1)",
        "create table note_2 partition of note for values in (2)",
        "insert into note select id, 1 from orders",
        "create index on note (order_id)",
        "create unique index pair on note_1 (order_id, n)",
        "alter table note_2 add constraint above check (order_id > n)");
    TableMigration run = fixture.switchKey(fixture.run());

    assertThat(String.valueOf(fixture.contract(run, List.of("old_column", "row_shape"))))
        .contains("the index public.pair", "the check above of public.note_2")
        .doesNotContain("note_1_order_id");
  }

  @Test
  @Tag("faults")
  void aContractedTableIsVerified() {
    TableMigration run = switched();
    fixture.contract(run);
    fixture.execute(
        "insert into orders (created_at) select now() from generate_series(1, 3000)",
        "alter table orders rename snowflake_id to id",
        "alter table orders rename to bookings",
        "alter table bookings add tenant int not null default 7",
        "alter table bookings drop constraint " + primaryKey("orders"),
        "alter table bookings add primary key (tenant, id)");
    String key = fixture.texts("insert into bookings default values returning id").getFirst();
    await().until(() -> isPublished(key));

    assertThat(verified(run)).contains("\"clean\": true", "\"rows\": " + (ROWS + 3_001));
    fixture
        .gateway
        .on
        .sql()
        .execute(
            "delete from coatcheck.public_id where key = "
                + fixture.texts("select max(id) from bookings").getFirst(),
            "delete from coatcheck.alias where ctid = (select min(ctid) from coatcheck.alias)");
    fixture.execute("alter table bookings disable trigger \"~coatcheck_update\"");
    String found = verified(run);
    assertThat(found)
        .contains("\"clean\": false", "missing_mapping", "missing_alias", "trigger_missing");
    assertThat(fixture.saw(run, "verification_failed", "missing_mapping: 1")).isTrue();
    assertThat(fixture.saw(run, "verification_failed", "missing_alias: 1, for instance ")).isTrue();
  }

  private String primaryKey(String table) {
    return fixture
        .texts(
            "select quote_ident(conname) from pg_constraint where contype = 'p'"
                + " and conrelid = '%s'::regclass".formatted(table))
        .getFirst();
  }

  /** The report, after which the run is where it was. */
  private String verified(TableMigration run) {
    MigrationFixture.done(
        fixture.migrations().verify(run.id(), ActionRequest.by(MigrationFixture.ACTOR)));
    return String.valueOf(fixture.await(run, RunState.CONTRACTED).report());
  }

  private TableMigration switched() {
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
    return fixture.switchKey(fixture.run());
  }

  /** A row whose entry was not delivered when the column went, and that somebody asks for. */
  private void requireFoundInArchive(String row) {
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
                .unmappedRows()
                .fillOnDemand(fixture.type, Long.parseLong(numbers[0])))
        .isTrue();

    assertThat(isPublished(numbers[1])).isTrue();
    assertThat(fixture.migrations().unmappedRows().fillOnDemand(fixture.type, 1_000_000)).isFalse();
  }

  /** As an application uses the tables that only knows the new keys. */
  private void requireUsable() {
    String key =
        fixture
            .texts("insert into orders (created_at) values (now()) returning snowflake_id")
            .getFirst();
    fixture.execute(
        "insert into item (order_id_snowflake_id) values (%s)".formatted(key),
        "insert into note (order_id_snowflake_id) values (%s)".formatted(key));
    await().until(() -> isPublished(key));
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
        fixture.texts("insert into orders (created_at) values (now()) returning id").getFirst();
    fixture.execute("update orders set id = 1 where id = " + renamed);
    assertThat(
            fixture.count(
                "select count(*) from orders where id in (%s, %s)".formatted(key, renamed)))
        .isEqualTo(2);
    await().until(() -> isPublished(renamed));
    fixture.execute("truncate orders cascade");
  }

  private boolean isPublished(String key) {
    return fixture.gateway.database.read(
        "test", sql -> sql.fetchExists(PUBLIC_ID, PUBLIC_ID.KEY.eq(Long.parseLong(key))));
  }

  /** What only the legacy IDs needed. */
  private void requireNoLeftovers() {
    assertThat(
            fixture.texts(
                "select tgrelid::regclass || ' ' || tgname from pg_trigger where not tgisinternal"
                    + " order by 1"))
        .containsExactly(
            "orders ~coatcheck_insert", "orders ~coatcheck_inserted", "orders ~coatcheck_update");
    assertThat(
            fixture.texts(
                "select split_part(proname, '_orders', 1) from pg_proc"
                    + " where pronamespace = 'coatcheck_migration'::regnamespace order by 1"))
        .hasSize(4);
  }

  private List<String> columns(String table) {
    return fixture.texts(
        "select attname || case when attnotnull then '!' else '' end from pg_attribute"
            + " where attrelid = '%s'::regclass and attnum > 0 and not attisdropped order by 1"
                .formatted(table));
  }

  private List<String> functions() {
    return fixture.texts(
        "select prosrc from pg_proc where pronamespace = 'coatcheck_migration'::regnamespace"
            + " order by proname");
  }

  private List<String> archived() {
    return fixture.texts("select legacy from " + archive());
  }

  private String archive() {
    return fixture
        .texts(
            "select oid::regclass from pg_class where relkind = 'r'"
                + " and relnamespace = 'coatcheck_migration'::regnamespace"
                + " and relname like 'archive%'")
        .getFirst();
  }
}
