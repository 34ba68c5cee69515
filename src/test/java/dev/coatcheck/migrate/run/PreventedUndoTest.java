package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.migrate.table.Phase;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An undo that something prevents halfway leaves a run that goes on in either direction. */
class PreventedUndoTest {
  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();

  @Test
  @Tag("faults")
  void itGoesForwardAgainWhenItIsResumed() {
    fixture.ordersWithItems(50, 200);
    TableMigration run = fixture.run();
    List<String> keys = keys();
    fixture.execute("create view by_key as select snowflake_id from orders");
    fixture.beginUndo(run, Phase.EXPAND);
    assertThat(fixture.failure(run)).contains("by_key");
    assertThat(
            fixture.count("select count(*) from pg_attribute where attname like '%_snowflake_id'"))
        .as("half of it is undone")
        .isZero();

    fixture.resume(run);

    fixture.await(run, RunState.DONE);
    assertThat(keys()).isEqualTo(keys);
    fixture.execute("insert into orders default values", "drop view by_key");
    fixture.undo(run, Phase.EXPAND);
  }

  @Test
  void theNewKeysStayThePrimaryKeyAndMoveBackLater() {
    fixture.ordersWithItems(50, 200);
    TableMigration run = fixture.switchKey(fixture.run());
    fixture.execute(
        "create view by_key as select snowflake_id, created_at from orders group by snowflake_id");
    fixture.beginUndo(run, Phase.INDEX);
    assertThat(fixture.failure(run)).contains("by_key");

    fixture.resume(run);

    fixture.await(run, RunState.DONE);
    assertThat(primaryKey()).isEqualTo("PRIMARY KEY (snowflake_id)");
    fixture.execute("drop view by_key");
    fixture.undo(run, Phase.SWITCH);
    assertThat(primaryKey()).isEqualTo("PRIMARY KEY (id)");
    fixture.contract(fixture.switchKey(run));
  }

  @Test
  void aRunThatFailedOnItsWayIsRetriedAndNotResumed() {
    fixture.orders(10);
    fixture.execute("alter table orders add constraint odd check (id % 2 = 1) not valid");
    TableMigration run = fixture.plan();
    fixture.start(run);
    assertThat(fixture.failure(run)).contains("set aside");

    assertThat(fixture.migrations().resume(run.id(), ActionRequest.by(MigrationFixture.ACTOR)))
        .isInstanceOfSatisfying(
            IdempotentResult.Unkeyed.class,
            refused -> assertThat(refused.outcome().toString()).contains("Retry the run"));
    assertThat(
            RunAction.RESUME.isPossible(
                fixture.now(run), fixture.migrations().journal().steps(run.id())))
        .isFalse();
  }

  private List<String> keys() {
    return fixture.texts("select id || ' ' || snowflake_id from orders order by id");
  }

  private String primaryKey() {
    return fixture
        .texts(
            "select pg_get_constraintdef(oid) from pg_constraint where contype = 'p'"
                + " and conrelid = 'orders'::regclass")
        .getFirst();
  }
}
