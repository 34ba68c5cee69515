package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.lease.FaultProxy.Trap;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.RunEvent;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The runner's connection falls silent in the middle of each step, or at its commit: for the server
 * that is what the death of a runner is. The run goes on by itself and ends right.
 */
@Tag("faults")
class StepFaultTest {
  private static final WatchTimeouts SHORT = new WatchTimeouts(200, 1_000, 2_000, 600);
  private static final String MOVED = "primary key using index";

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.behindProxy(SHORT);
  private final ShopWithItems shop = new ShopWithItems(fixture);

  /** Within a statement. */
  private static Trap in(String text) {
    return new Trap(text, true, false);
  }

  /** At the commit that follows a statement; the server has committed. */
  private static Trap after(String text) {
    return new Trap(text, true, false, true);
  }

  @Test
  void theSwitchItsUndoAndTheLastPhaseAreDecidedByTheCatalog() {
    shop.items(1_000);
    TableMigration run = fixture.run();
    meet(List.of(after(MOVED)), () -> fixture.beginSwitch(run));
    fixture.await(run, RunState.DONE);
    shop.requirePrimaryKey("snowflake_id");
    meet(List.of(after(MOVED)), () -> fixture.beginUndo(run, Phase.SWITCH));
    fixture.await(run, RunState.DONE);
    shop.requirePrimaryKey("id");
    shop.requireSound();
    fixture.switchKey(run);

    requireContract(run, List.of(after("drop column \"id\"")));
  }

  @Test
  void theLastPhaseStandsIt() {
    shop.items(1_000);
    requireContract(
        fixture.switchKey(fixture.run()),
        List.of(
            in("is not null) not valid"),
            after("is not null) not valid"),
            in("drop column \"id\""),
            after("drop column \"id\"")));
  }

  /** A row that is committed late would get another key in a second run. */
  @Test
  void anUndoOfARunThatWasStoppedAtItsFirstKeysArchivesThem() {
    fixture.orders(100);
    TableMigration run = fixture.plan();
    meet(List.of(after("select setval(")), () -> fixture.start(run));
    try (TestSession writer = fixture.sql().begin("insert into orders (id) values (7001)")) {
      fixture.beginUndo(run, Phase.EXPAND);
      fixture.execute("insert into orders (id) values (7002)");
      fixture.await(() -> fixture.now(run).status().waitsFor().isPresent());
      writer.commit();
    }
    fixture.await(run, RunState.CANCELLED);

    String archive =
        fixture
            .texts(
                "select oid::regclass from pg_class where relname like 'archive%' and relkind ="
                    + " 'r'")
            .getFirst();
    assertThat(fixture.column("select legacy from " + archive + " order by legacy"))
        .containsExactly(7001L, 7002L);
  }

  private void requireContract(TableMigration run, List<Trap> traps) {
    meet(traps, () -> MigrationFixture.done(fixture.contract(run, List.of("old_column"))));
    fixture.await(run, RunState.CONTRACTED);
    assertThat(fixture.migrations().journal().states(run.id()).steps())
        .allMatch(step -> step.state().isApplied());
    assertThat(fixture.count("select count(*) from item where order_id_snowflake_id is null"))
        .isZero();
    fixture.execute(
        "insert into orders select from generate_series(1, 1000)",
        "insert into item (order_id_snowflake_id) select snowflake_id from orders");
  }

  @Test
  void everyStepAndItsUndoStandsIt() {
    goThrough(
        List.of(
            in("create constraint trigger"),
            after("create constraint trigger"),
            in("for no key update)\nselect coalesce"),
            after("for no key update)\nselect coalesce"),
            in("create index concurrently"),
            in("is gone'"),
            after("is gone'"),
            in("item validate constraint"),
            after("item validate constraint")),
        List.of(
            in("create unique index concurrently \"old_perm"),
            in("create unique index concurrently \"new_pk"),
            in("lock table only %s in access exclusive mode"),
            in(MOVED),
            after(MOVED),
            after("validate constraint"),
            in("create unique index concurrently \"old_pk")),
        List.of(in("lock table only %s in access exclusive mode"), in(MOVED), after(MOVED)),
        List.of(
            in("replica identity default"),
            after("replica identity default"),
            in("drop index concurrently if exists \"public\".\"old_perm"),
            after("validate constraint"),
            in("drop constraint if exists \"fkey"),
            after("drop constraint if exists \"fkey"),
            in("drop index concurrently if exists \"public\".\"ref"),
            in("drop column if exists \"order_id_"),
            after("drop column if exists \"order_id_")));
  }

  private void goThrough(
      List<Trap> children, List<Trap> forth, List<Trap> back, List<Trap> undone) {
    shop.items(1_000);
    TableMigration run = fixture.plan();
    meet(children, () -> fixture.start(run));
    fixture.await(run, RunState.DONE);
    shop.requireSound();

    meet(forth, () -> fixture.beginSwitch(run));
    fixture.await(run, RunState.DONE);
    shop.requireSound();
    shop.requirePrimaryKey("snowflake_id");

    meet(back, () -> fixture.beginUndo(run, Phase.SWITCH));
    fixture.await(run, RunState.DONE);
    shop.requireSound();
    shop.requirePrimaryKey("id");

    meet(undone, () -> fixture.beginUndo(run, Phase.EXPAND));
    fixture.await(run, RunState.CANCELLED);
    shop.requireBare();
    List<RunEvent> events = fixture.migrations().journal().events(run.id(), 0);
    assertThat(events).noneMatch(event -> event.kind().equals("failed"));
  }

  /** Each trap is set when the one before has sprung. */
  private void meet(List<Trap> traps, Runnable action) {
    if (traps.isEmpty()) {
      action.run();
      return;
    }
    fixture.proxy().freezeAt(traps.getFirst());
    action.run();
    for (int i = 0; i < traps.size(); i++) {
      Trap trap = traps.get(i);
      Awaitility.await(trap.text()).atMost(Duration.ofMinutes(1)).until(fixture.proxy()::isTrapped);
      if (i + 1 < traps.size()) {
        fixture.proxy().freezeAt(traps.get(i + 1));
      }
    }
  }
}
