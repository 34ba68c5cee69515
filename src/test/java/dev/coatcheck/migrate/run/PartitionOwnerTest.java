package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Who owns a table makes and attaches partitions of it during a run, as before; nobody else gets
 * anything done by our functions.
 */
@Tag("faults")
class PartitionOwnerTest {
  private final OwnedSource shop = new OwnedSource();
  private final String suffix = Long.toUnsignedString(ThreadLocalRandom.current().nextLong(), 36);
  private final String member = "member_" + suffix;
  private final String heir = "heir_" + suffix;
  private final String foreign = "foreign_" + suffix;
  private MigrationFixture fixture;
  private int partitions;

  @BeforeEach
  void tables() {
    shop.admin(
        "create role " + member + " in role " + shop.owner,
        "create role " + heir,
        "create role " + foreign,
        "set role " + shop.owner,
        "create table public.orders (id bigserial primary key,"
            + " created_at timestamptz default now())",
        "insert into public.orders select from generate_series(1, 1000)",
        "create table public.payment (order_id bigint not null references public.orders, part int,"
            + " note text) partition by list (part)",
        "create table public.payment_0 partition of public.payment for values in (0)",
        "insert into public.payment select n, 0 from generate_series(1, 500) n");
    fixture = MigrationFixture.on(shop.forMigrator());
  }

  @AfterEach
  void close() {
    fixture.close();
    shop.admin(
        "drop owned by %1$s, %2$s, %3$s cascade".formatted(member, heir, foreign),
        "drop role %1$s, %2$s, %3$s".formatted(member, heir, foreign));
    shop.close();
  }

  @Test
  void ownersAndMembersMakeAndAttachPartitionsInEachPhase() {
    partitions();
    TableMigration run = fixture.startInTheMiddle(500);
    partitions();
    fixture.rate(run, 0);
    fixture.await(run, RunState.DONE);
    requireTwins();
    partitions();
    fixture.switchKey(run);
    requireTwins();
    partitions();
    fixture.undo(run, Phase.SWITCH);
    partitions();

    // A new owner of the tables, within a second.
    shop.admin(
        "grant %s to %s".formatted(heir, shop.migrator),
        "grant create on schema public to " + heir,
        "do $$ declare t regclass; begin for t in select relid from pg_partition_tree('payment')"
            + " loop execute format('alter table %s owner to heir', t); end loop; end $$"
                .replace("heir", heir),
        "alter table public.orders owner to " + heir);
    fixture.await(() -> shop.texts(callers()).equals(List.of(heir, heir)));
    create(heir);
    attach(heir);

    fixture.switchKey(run);
    requireTwins();
    attach(heir);
    long rows = shop.texts("select 1 from public.payment").size();
    fixture.contract(run);
    assertThat(
            shop.texts(
                "select 1 from public.payment p"
                    + " join public.orders o on o.snowflake_id = p.order_id_snowflake_id"))
        .hasSize(Math.toIntExact(rows));
    shop.admin(
        "set role " + heir,
        "create table public.payment_last partition of public.payment for values in (99)",
        "insert into public.payment (order_id_snowflake_id, part)"
            + " select max(snowflake_id), 99 from public.orders");

    shop.admin(
        "grant usage on schema coatcheck_migration to " + foreign,
        "grant select on coatcheck_migration.checkpoint to " + foreign);
    MigrationFixture.done(
        fixture
            .migrations()
            .retire(run.id(), NewKeys.NONE, ActionRequest.by(MigrationFixture.ACTOR)));
    assertThat(
            shop.texts(
                "select x.grantee::regrole::text from pg_namespace n, aclexplode(n.nspacl) x"
                    + " where nspname = 'coatcheck_migration' and x.grantee <> n.nspowner"
                    + " union all select x.grantee::regrole::text"
                    + " from pg_class c, aclexplode(c.relacl) x where relname like 'archive%'"
                    + " and x.grantee <> c.relowner"))
        .as("what a run gives goes with it, and what the DBA gives stays")
        .containsExactly(foreign);
  }

  /** By owner and member, made empty and attached, with rows of the application. */
  private void partitions() {
    create(shop.owner);
    create(member);
    attach(shop.owner);
    attach(member);
  }

  private void create(String role) {
    partitions++;
    shop.admin(
        "set role " + role,
        "create table public.payment_%1$d partition of public.payment for values in (%1$d)"
            .formatted(partitions),
        "alter table public.payment_%d owner to %s".formatted(partitions, owner(role)));
    write(role);
  }

  /** Partitions belong to the owner of the whole, whoever makes them. */
  private String owner(String role) {
    return role.equals(member) ? shop.owner : role;
  }

  private void attach(String role) {
    partitions++;
    shop.admin(
        "set role " + role,
        "create table public.payment_%d (like public.payment including all)".formatted(partitions),
        "insert into public.payment_%1$d select n, %1$d from generate_series(1, 10) n"
            .formatted(partitions),
        "alter table public.payment attach partition public.payment_%1$d for values in (%1$d)"
            .formatted(partitions),
        "alter table public.payment_%d owner to %s".formatted(partitions, owner(role)));
    write(role);
  }

  private void write(String role) {
    shop.admin(
        "set role " + role,
        "insert into public.payment (order_id, part) select n, %d from generate_series(1, 10) n"
            .formatted(partitions),
        "update public.payment set order_id = 11 where order_id = 1 and part = " + partitions,
        "insert into public.payment_%1$d (order_id, part) values (5, %1$d)".formatted(partitions),
        "delete from public.payment where order_id = 2 and part = " + partitions);
  }

  private void requireTwins() {
    assertThat(
            shop.texts(
                "select p.tableoid::regclass::text from public.payment p join public.orders o"
                    + " on o.id = p.order_id"
                    + " where p.order_id_snowflake_id is distinct from o.snowflake_id"))
        .isEmpty();
  }

  private static String callers() {
    return "select pg_get_userbyid(x.grantee)::text from pg_proc p, aclexplode(p.proacl) x"
        + " where p.proname like 'on\\_ref\\_%' and x.grantee <> p.proowner";
  }

  @Test
  void aForeignRoleCanNeitherUseOurFunctionsNorForgeAnEntry() {
    TableMigration run = fixture.run();
    fixture.awaitDelivered(run);
    shop.admin(
        "grant usage on schema public to " + foreign,
        "create table public.loot (id bigint, snowflake_id bigint, order_id bigint,"
            + " order_id_snowflake_id bigint)",
        "alter table public.loot owner to " + foreign);
    for (String function :
        shop.texts(
            "select p.oid::regprocedure::text from pg_proc p where p.prorettype ="
                + " 'trigger'::regtype and p.pronamespace = 'coatcheck_migration'::regnamespace")) {
      assertThatThrownBy(() -> put(foreign, function, "loot"))
          .as(function)
          .hasStackTraceContaining("permission denied");
    }
    // Whatever an administrator grants in addition.
    shop.admin(
        "grant usage on schema coatcheck_migration to " + foreign,
        "grant execute on all functions in schema coatcheck_migration to " + foreign);
    for (String event : List.of("inserted", "insert", "archived")) {
      put(foreign, function("on_" + event), "loot");
      assertThatThrownBy(() -> loot(foreign))
          .as(event)
          .hasStackTraceContaining("is no table of this run");
      shop.admin("drop trigger mine on public.loot");
    }
    put(foreign, function("on_ref"), "loot");
    loot(foreign);

    assertThat(shop.texts("select concat(snowflake_id, order_id_snowflake_id) from public.loot"))
        .as("the keys of rows")
        .containsExactly("666");
    assertThat(fixture.outbox(run.target()).lag().entries()).isZero();
    assertThat(shop.texts("select legacy from " + archive() + " where legacy = 666")).isEmpty();
  }

  private void loot(String role) {
    try (TestSession session = shop.database.sql().session()) {
      session.execute(
          "set role " + role,
          "insert into public.loot (id, snowflake_id, order_id) values (666, 666, 7)");
    }
  }

  private void put(String role, String function, String table) {
    boolean isOfStatement = function.contains("inserted") || function.contains("archived");
    shop.admin(
        "set role " + role,
        "create trigger mine %s insert on public.%s %s execute function %s"
            .formatted(
                isOfStatement ? "after" : "before",
                table,
                isOfStatement
                    ? "referencing new table as inserted for each statement"
                    : "for each row",
                function));
  }

  private String function(String kind) {
    return shop.texts(
            "select p.oid::regprocedure::text from pg_proc p"
                + " where p.pronamespace = 'coatcheck_migration'::regnamespace"
                + " and p.proname like '"
                + kind.replace("_", "\\_")
                + "\\_%' and p.proname not like '%late%'")
        .getFirst();
  }

  private String archive() {
    return shop.text(
        "select oid::regclass::text from pg_class where relkind = 'r' and relnamespace ="
            + " 'coatcheck_migration'::regnamespace and relname like 'archive%'");
  }
}
