package dev.coatcheck.migrate.primarykey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.migrate.run.ActionOutcome;
import dev.coatcheck.migrate.run.ActionRequest;
import dev.coatcheck.migrate.run.Goal;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.NewKeys;
import dev.coatcheck.migrate.run.Retirement;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.postgres.sql.TestSession;
import dev.coatcheck.postgres.sql.TestSql;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a contracted run keeps on its table goes when that is asked for. */
class RetireTest {
  private static final int ROWS = 100;

  @RegisterExtension final MigrationFixture fixture = MigrationFixture.beside();

  @Test
  void anApplicationThatOwnsNothingGoesOnInsertingWithAFunctionBesideTheTable() throws Exception {
    TableMigration run = contracted();
    fixture.execute(
        "create role retire_app login password 'app'",
        "grant insert, select on orders to retire_app",
        "create role retire_reader login password 'app'",
        "grant select on orders to retire_reader");
    AtomicBoolean goesOn = new AtomicBoolean(true);
    ConcurrentLinkedQueue<String> keys = new ConcurrentLinkedQueue<>();
    Thread application = Thread.ofPlatform().start(() -> insert(goesOn, keys));
    while (keys.size() < 20) {
      Thread.onSpinWait();
    }

    Retirement.Plan plan = fixture.migrations().retirement(run, NewKeys.FUNCTION).orElseThrow();
    MigrationFixture.done(retire(run, NewKeys.FUNCTION));

    int then = keys.size();
    while (application.isAlive() && keys.size() < then + 20) {
      Thread.onSpinWait();
    }
    goesOn.set(false);
    application.join();
    assertThat(keys.size()).as("inserts go on without an error").isGreaterThanOrEqualTo(then + 20);
    assertThat(keys).doesNotHaveDuplicates();
    assertThat(fixture.count("select count(*) from orders")).isEqualTo(ROWS + keys.size());
    assertThat(keys)
        .allSatisfy(
            key ->
                assertThat(SnowflakeLayout.DEFAULT.workerOf(Long.parseLong(key)))
                    .isEqualTo(WorkerUses.NUMBER_SOURCE));
    assertThat(keys.stream().map(Long::parseLong).toList()).isSorted();
    assertThat(plan.statements())
        .anySatisfy(one -> assertThat(one).contains("drop trigger if exists \"~coatcheck_insert\""))
        .anySatisfy(one -> assertThat(one).contains("set default"));
    assertThat(String.join(" ", plan.consequences())).contains("no mapping by themselves");
    assertThat(triggers()).isEmpty();
    assertThat(ours()).containsExactly("archive");
    assertThatThrownBy(
            () -> reader("retire_reader").execute("select public." + function("new") + "()"))
        .hasMessageContaining("permission denied for function");
    assertThatThrownBy(
            () ->
                reader("retire_app")
                    .execute("select public." + function("next") + "('public.orders')"))
        .as("it would move any sequence of the owner")
        .hasMessageContaining("permission denied for function");
    // Nothing is left that asks for it twice.
    assertThat(refusal(retire(run, NewKeys.NONE))).contains("retired already");

    MigrationFixture.done(forget(run));
    assertThat(
            fixture.count(
                "select count(*) from pg_namespace where nspname = 'coatcheck_migration'"))
        .isZero();
    reader("retire_app").execute("insert into public.orders default values");
    assertThat(fixture.refused("orders"))
        .extracting(Diagnostic::code)
        .containsExactly("migration_active");
    fixture.execute(
        "drop owned by retire_app",
        "drop role retire_app",
        "drop owned by retire_reader",
        "drop role retire_reader");
  }

  @Test
  @Tag("faults")
  void theFunctionGivesKeysWhateverItsSchemaIsCalled() {
    fixture.execute(
        "create schema sales",
        "create table sales.orders (id bigserial primary key)",
        "insert into sales.orders select from generate_series(1, 10)");
    TableMigration run = fixture.run(fixture.plan("sales", "orders", Optional.empty()));
    fixture.contract(fixture.switchKey(run));
    MigrationFixture.done(retire(run, NewKeys.FUNCTION));

    fixture.execute("alter schema sales rename to shop");

    fixture.execute("insert into shop.orders default values");
    assertThat(fixture.count("select count(distinct snowflake_id) from shop.orders")).isEqualTo(11);
  }

  @Test
  @Tag("faults")
  void theFunctionGivesKeysToTheirColumnAlsoInAPrimaryKeyOfTwo() {
    TableMigration run = contracted();
    fixture.execute(
        "alter table orders add tenant int not null default 7",
        "alter table orders drop constraint "
            + fixture
                .texts(
                    "select quote_ident(conname) from pg_constraint where contype = 'p'"
                        + " and conrelid = 'orders'::regclass")
                .getFirst(),
        "alter table orders add primary key (tenant, snowflake_id)",
        "alter table orders rename snowflake_id to id");

    MigrationFixture.done(retire(run, NewKeys.FUNCTION));

    fixture.execute("insert into orders default values");
    assertThat(fixture.count("select count(distinct id) from orders where tenant = 7"))
        .isEqualTo(ROWS + 1);
  }

  @Test
  void aTableThatHasLostItsKeysStaysContractedAndIsRetiredWithoutTriggers() {
    TableMigration run = contracted();
    fixture.execute("alter table orders drop column snowflake_id cascade");

    MigrationFixture.done(fixture.migrations().verify(run.id(), asked()));

    TableMigration verified = fixture.await(run, RunState.CONTRACTED);
    assertThat(verified.status().reason().orElse("")).contains("its column of the keys");
    assertThat(String.valueOf(verified.report())).contains("\"clean\": false");
    assertThat(refusal(retire(run, NewKeys.NONE))).contains("the column of the keys is not known");
    fixture.execute(
        "drop trigger \"~coatcheck_insert\" on orders",
        "drop trigger \"~coatcheck_inserted\" on orders");
    assertThat(refusal(retire(run, NewKeys.FUNCTION)))
        .contains("the column of the keys is not known");
    MigrationFixture.done(retire(run, NewKeys.NONE));
    assertThat(fixture.now(run).status().reason()).isEmpty();
  }

  /** As in tables that somebody took our triggers from. */
  @Test
  @Tag("faults")
  void theKeysOfATableWithoutTriggersAreThoseOfItsPrimaryKey() {
    TableMigration run = contracted();
    fixture.execute("drop trigger \"~coatcheck_update\" on orders");

    MigrationFixture.done(fixture.migrations().verify(run.id(), asked()));

    assertThat(String.valueOf(fixture.await(run, RunState.CONTRACTED).report()))
        .contains("trigger_missing");
  }

  @Test
  void withoutAFunctionTheApplicationBringsItsKeys() {
    TableMigration run = contracted();
    assertThat(refusal(forget(run))).contains("Retire the run first");
    fixture.execute("insert into orders select from generate_series(1, 50)");
    long last = fixture.count("select max(snowflake_id) from orders");

    MigrationFixture.done(retire(run, NewKeys.NONE));

    assertThatThrownBy(() -> fixture.execute("insert into orders default values"))
        .hasStackTraceContaining("violates not-null constraint");
    fixture.execute("insert into orders (snowflake_id) values (%d)".formatted(last + 1));
    assertThat(fixture.gateway.on.sql().number("select count(*) from coatcheck.public_id"))
        .as("what the outbox held was brought before")
        .isEqualTo(ROWS + 50);
    assertThat(triggers()).isEmpty();
    assertThat(ours()).containsExactly("archive");
    assertThat(fixture.now(run).status().state()).isEqualTo(RunState.CONTRACTED);
    assertThat(refusal(fixture.migrations().verify(run.id(), asked())))
        .contains("retire", "forget");
    MigrationFixture.done(forget(run));
    MigrationFixture.done(forget(run));
  }

  @Test
  @Tag("faults")
  void aTableThatIsLockedIsTakenLaterAndNothingIsDoneTwice() {
    TableMigration run = contracted();
    try (TestSession holder = fixture.sql().begin("lock table orders in row exclusive mode")) {
      assertThat(refusal(retire(run, NewKeys.FUNCTION))).contains("Another session holds a lock");
      holder.rollback();
    }
    fixture.execute(
        "alter table orders rename snowflake_id to id", "alter table orders rename to bookings");
    // As if the gateway had died before it could write that down.
    MigrationFixture.done(retire(run, NewKeys.FUNCTION));
    fixture.gateway.on.sql().execute("update coatcheck.table_migration set occupies = true");
    MigrationFixture.done(retire(run, NewKeys.FUNCTION));

    fixture.execute("insert into bookings default values");
    assertThat(fixture.count("select count(*) from bookings")).isEqualTo(ROWS + 1);
  }

  @Test
  @Tag("faults")
  void aRetirementThatStopsAfterTheTriggersSaysSoAndGoesOn() {
    TableMigration run = contracted();
    ActionRequest<ActionOutcome> operator = new ActionRequest<>(Actor.operator(), Optional.empty());
    String outbox =
        fixture
            .texts("select oid::regclass from pg_class where relname like 'outbox\\_a\\_%'")
            .getFirst();

    try (TestSession reader =
        fixture.sql().begin("lock table %s in access share mode".formatted(outbox))) {
      assertThat(fixture.migrations().retire(run.id(), NewKeys.NONE, operator).outcome())
          .isEqualTo(
              new ActionOutcome.Unfinished(
                  "The triggers are off already, so new rows get no mapping. Another session holds"
                      + " a lock on the outbox, or entries of the outbox could not be brought to"
                      + " the gateway. Send the request again to finish."));
      reader.rollback();
    }

    assertThat(triggers()).isEmpty();
    assertThat(fixture.saw(run, "retire", "The triggers are about to go; new keys: none."))
        .isTrue();
    assertThat(fixture.saw(run, "retire", "The triggers are off")).isTrue();
    assertThat(
            fixture
                .gateway
                .on
                .sql()
                .texts(
                    "select detail ->> 'detail' from coatcheck.audit_entry"
                        + " where action = 'table_migration.retire'"))
        .singleElement()
        .asString()
        .startsWith("The triggers are off");
    MigrationFixture.done(fixture.migrations().retire(run.id(), NewKeys.NONE, operator));
    assertThat(ours()).containsExactly("archive");
  }

  @Test
  void aRetirementOfARunThatHasChangedSinceItWasSeenDoesNothing() {
    TableMigration run = contracted();
    ActionRequest<ActionOutcome> stale =
        asked().ifStill(new ActionRequest.Seen(RunState.CONTRACTED, Goal.VERIFY));

    assertThat(refusal(fixture.migrations().retire(run.id(), NewKeys.NONE, stale)))
        .contains("It has changed since its page was loaded");
    assertThat(triggers()).isNotEmpty();

    MigrationFixture.done(retire(run, NewKeys.NONE));
    assertThat(refusal(fixture.migrations().forget(run.id(), stale)))
        .contains("It has changed since its page was loaded");
    assertThat(ours()).containsExactly("archive");
  }

  /** A pause at the commit of the last step, and a verification instead of a resume. */
  @Test
  @Tag("faults")
  void theTypeStaysWithItsTableHoweverTheRunBecameContracted() {
    fixture.execute("create table others (id bigserial primary key)");
    TableMigration run = contracted();
    fixture
        .gateway
        .on
        .sql()
        .execute(
            "update coatcheck.table_migration set state = 'paused', goal = 'contract'",
            "update coatcheck.table_migration_step set state = 'pending'"
                + " where name = 'drop-old-columns'",
            "delete from coatcheck.table_migration_event where kind = 'contracted'");
    MigrationFixture.done(fixture.migrations().verify(run.id(), asked()));
    fixture.await(run, RunState.CONTRACTED);

    MigrationFixture.done(retire(run, NewKeys.NONE));

    assertThat(fixture.refused("others"))
        .extracting(Diagnostic::code)
        .containsExactly("migration_active");
  }

  @Test
  void aRunThatIsNotContractedIsNotRetired() {
    fixture.orders(10);
    TableMigration run = fixture.run();

    assertThat(refusal(retire(run, NewKeys.NONE))).contains("Only a contracted run is retired");
    assertThat(fixture.migrations().retirement(run, NewKeys.NONE)).isEmpty();
    assertThat(triggers()).isNotEmpty();
  }

  private TableMigration contracted() {
    fixture.orders(ROWS);
    TableMigration run = fixture.switchKey(fixture.run());
    return fixture.contract(run);
  }

  /** As an application does that goes on, whatever is done to the table. */
  private void insert(AtomicBoolean goesOn, ConcurrentLinkedQueue<String> keys) {
    try (TestSession session = reader("retire_app").session()) {
      while (goesOn.get()) {
        keys.add(
            String.valueOf(
                session.text(
                    "insert into public.orders (created_at) values (now()) returning"
                        + " snowflake_id")));
      }
    }
  }

  private TestSql reader(String role) {
    return fixture.sql().as(role, "app");
  }

  private List<String> triggers() {
    return fixture.texts(
        "select tgname from pg_trigger where tgname like '~coatcheck%' and not tgisinternal");
  }

  private String function(String start) {
    return fixture
        .texts(
            "select oid::regproc from pg_proc where proname like '%s\\_key\\_%%'".formatted(start))
        .getFirst();
  }

  /** What is left in our schema of the table, by its kind. */
  private List<String> ours() {
    List<String> kinds = new ArrayList<>();
    for (String name :
        fixture.texts(
            "select relname from pg_class where relkind in ('r', 'S')"
                + " and relnamespace = 'coatcheck_migration'::regnamespace"
                + " and relname like '%\\_orders\\_%'"
                + " union all select proname from pg_proc"
                + " where pronamespace = 'coatcheck_migration'::regnamespace")) {
      kinds.add(name.replaceFirst("_.*", ""));
    }
    return kinds;
  }

  private static ActionRequest<ActionOutcome> asked() {
    return ActionRequest.by(MigrationFixture.ACTOR);
  }

  private IdempotentResult<ActionOutcome> retire(TableMigration run, NewKeys newKeys) {
    return fixture.migrations().retire(run.id(), newKeys, asked());
  }

  private IdempotentResult<ActionOutcome> forget(TableMigration run) {
    return fixture.migrations().forget(run.id(), asked());
  }

  private static String refusal(IdempotentResult<ActionOutcome> result) {
    if (result
        instanceof
        IdempotentResult.Unkeyed<ActionOutcome>(ActionOutcome.NotNow(RunState _, String detail))) {
      return detail;
    }
    throw new AssertionError(result);
  }
}
