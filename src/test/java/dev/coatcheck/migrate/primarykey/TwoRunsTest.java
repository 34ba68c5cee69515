package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.table.Phase;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One table is the child in one run and the parent in another: customers, orders, items. */
@Tag("faults")
class TwoRunsTest {
  private static final List<String> TABLES = List.of("customer", "purchase", "item");

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();

  @Test
  void theyShareATableWhoseParentGoesFirst() {
    share(true);
  }

  @Test
  void theyShareATableWhoseParentGoesSecond() {
    share(false);
  }

  private void share(boolean parentFirst) {
    tables();
    Type first = fixture.type;
    Type second = fixture.gateway.type("other", "oth", KeyKind.BIGINT);
    TableMigration one =
        fixture.run(fixture.plan(parentFirst ? "customer" : "purchase", first, created()));
    requireSound();
    TableMigration two =
        fixture.run(fixture.plan(parentFirst ? "purchase" : "customer", second, created()));
    requireSound();

    fixture.switchKey(one);
    requireSound();
    fixture.switchKey(two);
    requireSound();
    fixture.undo(one, Phase.SWITCH);
    requireSound();
    fixture.undo(one, Phase.EXPAND);
    write();
    requireTwins(parentFirst ? "item" : "purchase");
    fixture.undo(two, Phase.EXPAND);

    write();
    assertThat(fixture.texts("select tgname::text from pg_trigger where tgname like '~coat%'"))
        .isEmpty();
    assertThat(
            fixture.texts(
                "select pg_get_constraintdef(oid) from pg_constraint where contype = 'p'"
                    + " and conrelid in ('customer'::regclass, 'purchase'::regclass)"))
        .containsExactly("PRIMARY KEY (id)", "PRIMARY KEY (id)");
  }

  /** Both lock what they share in the order of the OIDs. */
  @Test
  void theySwitchAndGoBackAtTheSameTime() {
    tables();
    Type other = fixture.gateway.type("other", "oth", KeyKind.BIGINT);
    TableMigration top = fixture.run(fixture.plan("customer", fixture.type, created()));
    TableMigration mid = fixture.run(fixture.plan("purchase", other, created()));
    List<TableMigration> both = List.of(top, mid);

    both.forEach(run -> fixture.beginSwitch(run));
    both.forEach(run -> fixture.await(run, RunState.DONE));
    requireSound();
    both.forEach(run -> fixture.beginUndo(run, Phase.EXPAND));
    both.forEach(run -> fixture.await(run, RunState.CANCELLED));

    write();
    assertThat(fixture.texts("select tgname::text from pg_trigger where tgname like '~coat%'"))
        .isEmpty();
    assertThat(
            fixture.count(
                "select count(*) from pg_stat_database where deadlocks > 0"
                    + " and datname = current_database()"))
        .isZero();
  }

  private static Optional<String> created() {
    return Optional.of("created_at");
  }

  private void tables() {
    fixture.execute(
        "create table customer (id bigserial primary key, created_at timestamptz default now())",
        "create table purchase (id serial primary key, created_at timestamptz default now(),"
            + " customer_id bigint references customer on delete set null)",
        "create table item (id bigserial primary key,"
            + " purchase_id integer not null references purchase on delete cascade)",
        "insert into customer (created_at) select now() - make_interval(secs => 900 - n)"
            + " from generate_series(1, 200) n",
        "insert into purchase (created_at, customer_id) select now() - make_interval(secs => 900 -"
            + " n), n from generate_series(1, 200) n",
        "insert into item (purchase_id) select n from generate_series(1, 200) n");
  }

  private void write() {
    fixture.execute(
        "with c as (insert into customer default values returning id), p as (insert into purchase"
            + " (customer_id) select id from c returning id) insert into item (purchase_id)"
            + " select id from p",
        "insert into customer default values",
        "insert into purchase (customer_id) select max(id) from customer",
        "insert into item (purchase_id) select max(id) from purchase",
        "update purchase set customer_id = 3 where id = 17",
        "delete from customer where id = (select max(id) - 1 from customer)",
        "delete from purchase where id = (select max(id) - 1 from purchase)");
  }

  private void requireSound() {
    write();
    requireTwins("item");
    requireTwins("purchase");
  }

  private void requireTwins(String child) {
    String parent = TABLES.get(TABLES.indexOf(child) - 1);
    if (fixture.count(
            "select count(*) from pg_attribute where attrelid = '%s'::regclass and attname = '%s_id_snowflake_id'"
                .formatted(child, parent))
        == 1) {
      assertThat(
              fixture.column(
                  "select c.id from %1$s c left join %2$s p on p.id = c.%2$s_id where c.%2$s_id_snowflake_id is distinct from p.snowflake_id"
                      .formatted(child, parent)))
          .as(child)
          .isEmpty();
    }
  }
}
