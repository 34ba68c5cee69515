package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.lease.FaultProxy.Trap;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.UnfencedSession;
import dev.coatcheck.migrate.table.Ddl;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.Step;
import dev.coatcheck.migrate.table.StepOutcome;
import dev.coatcheck.migrate.table.Steps;
import dev.coatcheck.postgres.session.WatchTimeouts;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What happened to table and children just before the switch keeps the primary key where it is. */
@Tag("faults")
class SwitchGateTest {
  @RegisterExtension
  final MigrationFixture fixture = MigrationFixture.behindProxy(WatchTimeouts.DEFAULT);

  private final ShopWithItems shop = new ShopWithItems(fixture);

  /** Of the foreign keys that are there with those of the plan. */
  private static final String COMPARISON = "f.confdeltype::text || f.confupdtype::text";

  /**
   * One fault.
   *
   * @param named what the refusal says
   */
  private record Fault(String fault, String repair, List<String> named) {}

  private static final String CHILD_TRIGGER =
      """
      do $$ begin execute format('alter table item %s trigger %%I', (select tgname from pg_trigger
        where tgrelid = 'item'::regclass and tgname like '~coatcheck\\_ref\\_%%' order by 1 limit 1));
      end $$\
      """;

  private static final String DROP_INDEX =
      """
      do $$ begin execute format('drop index public.%%I', (select relname from pg_class
        where relname like '%s%%' and relkind = 'i'));
      end $$\
      """;

  private static final String BREAK_INDEX =
      "update pg_index set indisvalid = false where indexrelid = (select oid from pg_class"
          + " where relname like '%s%%' and relkind = 'i')";

  private static final List<Fault> FAULTS =
      List.of(
          new Fault(
              "alter table orders disable trigger \"~coatcheck_delete\"",
              "alter table orders enable always trigger \"~coatcheck_delete\"",
              List.of("triggers", "~coatcheck_delete", "enable always trigger")),
          new Fault(
              "alter table orders disable trigger user; alter table orders enable trigger user",
              "do $$ declare t name; begin for t in select tgname from pg_trigger where tgname like"
                  + " '~coatcheck%' and tgrelid = 'orders'::regclass loop execute format('alter"
                  + " table orders enable always trigger %I', t); end loop; end $$",
              List.of("triggers", "~coatcheck_insert", "~coatcheck_truncate")),
          new Fault(
              CHILD_TRIGGER.formatted("disable"),
              CHILD_TRIGGER.formatted("enable always"),
              List.of("triggers", "public.item.order_id", "~coatcheck_ref_", "enable always")),
          new Fault(
              CHILD_TRIGGER.formatted("enable"),
              CHILD_TRIGGER.formatted("enable always"),
              List.of("triggers", "public.item.order_id", "~coatcheck_ref_")),
          new Fault(
              "update pg_constraint set convalidated = false where conname like 'fkey_%'",
              "update pg_constraint set convalidated = true where conname like 'fkey_%'",
              List.of("foreign key", "fkey_public.orders", "not validated")),
          new Fault(
              "create view totals as select o.id, o.created_at, count(*) from orders o"
                  + " join item i on i.order_id = o.id group by o.id",
              "drop view totals",
              List.of("depend on the primary key itself", "totals")));

  @Test
  void isNamedAndNothingIsChanged() {
    shop.items(1_000);
    TableMigration run = fixture.run();
    fixture.execute("alter table orders disable trigger \"~coatcheck_insert\"");
    assertThat(shop.failedSwitch(run)).contains("~coatcheck_insert");
    fixture.execute("alter table orders enable always trigger \"~coatcheck_insert\"");
    List<String> before = shop.catalog();

    for (Fault fault : FAULTS) {
      fixture.execute(fault.fault());
      assertThat(shop.failedSwitch(run)).as(fault.fault()).contains(fault.named());
      fixture.execute(fault.repair());
      assertThat(shop.catalog()).as(fault.fault()).isEqualTo(before);
    }

    shop.retry(run);
    shop.requirePrimaryKey("snowflake_id");
    shop.requireSound();
    backIsHeldByWhatIsOffAndNotByWhatIsGone(run);
  }

  /** As while the switch waits for its time window. */
  @Test
  void anIndexThatIsGoneOrInvalidIsNamedAndARetryBuildsIt() {
    requireBuiltAgain("new_pk");
  }

  @ParameterizedTest
  @ValueSource(strings = {"old_perm", "ref_public"})
  void soIsEachOther(String index) {
    requireBuiltAgain(index);
  }

  private void requireBuiltAgain(String index) {
    shop.items(100);
    TableMigration run = fixture.run();
    fixture.execute("alter table orders disable trigger \"~coatcheck_insert\"");
    assertThat(shop.failedSwitch(run)).contains("~coatcheck_insert");
    for (String fault : List.of(BREAK_INDEX, DROP_INDEX)) {
      fixture.execute(
          "alter table orders enable always trigger \"~coatcheck_insert\"", fault.formatted(index));
      assertThat(gate(run)).contains(index, "missing or invalid", "Retry builds it.");

      fixture.execute("alter table orders disable trigger \"~coatcheck_insert\"");
      assertThat(shop.failedSwitch(run)).contains("~coatcheck_insert");
    }
    fixture.execute(
        "alter table orders enable always trigger \"~coatcheck_insert\"",
        DROP_INDEX.formatted(index));

    shop.retry(run);

    shop.requirePrimaryKey("snowflake_id");
    shop.requireSound();
  }

  /** What the switch says under its lock. */
  private String gate(TableMigration run) {
    Target target = fixture.now(run).target();
    Step.Ddl move =
        Steps.of(target).stream()
            .filter(step -> step.name().equals(Step.PRIMARY_KEY))
            .map(Step.Ddl.class::cast)
            .findFirst()
            .orElseThrow();
    try (SourceSession session = UnfencedSession.open(fixture.settings, target)) {
      return ((StepOutcome.Failed) new Ddl(session, target, _ -> {}).apply(move)).reason();
    }
  }

  /** Else a run whose trigger somebody has dropped could never be undone. */
  private void backIsHeldByWhatIsOffAndNotByWhatIsGone(TableMigration run) {
    fixture.execute(CHILD_TRIGGER.formatted("disable"));
    fixture.beginUndo(run, Phase.SWITCH);
    assertThat(fixture.failure(run)).contains("public.item.order_id");
    shop.requirePrimaryKey("snowflake_id");
    fixture.execute(
        CHILD_TRIGGER.formatted("enable always"), "drop trigger \"~coatcheck_delete\" on orders");

    fixture.undo(run, Phase.EXPAND);

    shop.requireBare();
  }

  /** The triggers are on again as they were, and only a look at the rows tells. */
  @Test
  void aRowWhoseColumnsDisagreeIsFoundByAVerificationThatIsNotOld() {
    shop.items(1_000);
    TableMigration run = fixture.run();
    fixture.execute("alter table orders disable trigger \"~coatcheck_insert\"");
    assertThat(shop.failedSwitch(run)).contains("~coatcheck_insert");
    fixture.execute(
        "alter table orders enable always trigger \"~coatcheck_insert\"",
        CHILD_TRIGGER.formatted("disable"),
        "update item set order_id = order_id + 1 where id = 77",
        CHILD_TRIGGER.formatted("enable always"));
    age();

    assertThat(shop.failedSwitch(run)).contains("child_mismatch", "public.item.order_id");

    shop.requirePrimaryKey("id");
    // Each update lets the twin follow.
    fixture.execute(
        "update item set order_id = order_id + 1 where id = 77",
        "update item set order_id = order_id - 1 where id = 77");
    shop.retry(run);
    shop.requireSound();
  }

  @Test
  void aForeignKeyThatComesBetweenTheComparisonAndTheLockIsNamed() {
    requireNamed(
        "create table note (order_id bigint references orders)",
        "note_order_id_fkey of public.note");
  }

  @Test
  void soIsOneOfAChildThatIsKnown() {
    requireNamed(
        "alter table item add column other_id bigint references orders",
        "item_other_id_fkey of public.item");
  }

  /** Nothing is locked yet when the foreign keys are compared with those of the plan. */
  private void requireNamed(String added, String named) {
    shop.items(1_000);
    TableMigration run = fixture.run();
    // From the second attempt on there is only one comparison: all that comes before is built.
    fixture.execute("alter table orders disable trigger \"~coatcheck_insert\"");
    assertThat(shop.failedSwitch(run)).contains("~coatcheck_insert");
    fixture.execute("alter table orders enable always trigger \"~coatcheck_insert\"");
    fixture.proxy().freezeAt(new Trap(COMPARISON, true, true));
    fixture.retry(run);
    fixture.await(fixture.proxy()::isTrapped);
    // Answered, so that what comes from now on is not among what is compared.
    fixture.await(
        () ->
            fixture.count(
                    "select count(*) from pg_stat_activity where datname = current_database()"
                        + " and state <> 'active' and query like '%"
                        + COMPARISON
                        + "%'")
                == 1);

    fixture.execute(added);
    fixture.proxy().freeze(false);

    assertThat(fixture.failure(run)).contains("foreign keys has no twin", named);
    shop.requirePrimaryKey("id");
    assertThat(shop.failedSwitch(run)).contains("Retry takes them as they are now");
    shop.retry(run);
    shop.requirePrimaryKey("snowflake_id");
    shop.requireSound();
  }

  /** As after a night. */
  private void age() {
    fixture
        .gateway
        .on
        .sql()
        .execute(
            "update coatcheck.table_migration_step set changed_at = changed_at - interval '8"
                + " hours' where phase = 'verify'");
  }
}
