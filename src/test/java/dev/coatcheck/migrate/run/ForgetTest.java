package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.sql.TestSql;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an undo leaves in the source goes when it is asked for, and not before. */
@Tag("faults")
class ForgetTest {
  @RegisterExtension final MigrationFixture fixture = MigrationFixture.apart();

  @Test
  void theSchemaGoesWithTheLastArchive() {
    fixture.orders(10);
    fixture.execute("create table others (id bigserial primary key)");
    Type other = fixture.gateway.type("other", "oth", KeyKind.BIGINT);
    TableMigration orders = fixture.run();
    TableMigration others = fixture.run(fixture.plan("others", other, Optional.empty()));
    assertThat(refusal(orders)).contains("Undo the run from expand on first");
    fixture.undo(orders, Phase.NOT_NULL);
    assertThat(refusal(orders)).contains("Undo the run from expand on first");
    fixture.undo(orders, Phase.EXPAND);
    assertThat(archives()).isEqualTo(2);

    assertThat(MigrationFixture.done(forget(orders)).id()).isEqualTo(orders.id());

    assertThat(archives()).isEqualTo(1);
    assertThat(fixture.saw(orders, "forget", "other tables still need the schema")).isTrue();
    // The other table goes on as if nothing had been.
    fixture.execute("insert into others default values");
    fixture.undo(others, Phase.EXPAND);
    MigrationFixture.done(forget(others));
    assertThat(hasSchema()).isFalse();
    assertThat(fixture.refused("orders"))
        .extracting(Diagnostic::code)
        .containsExactly("keys_forgotten");
    MigrationFixture.done(forget(others));
    assertThat(fixture.saw(others, "forget", "The source has no objects of this run")).isTrue();
  }

  /** What has happened to the keys of the type is not known to a plan that was made before. */
  @ParameterizedTest
  @ValueSource(strings = {"keys_forgotten", "migration_active"})
  void anOlderPlanOfTheTypeIsRefusedToo(String code) {
    fixture.orders(10);
    fixture.execute("create table others (id bigserial primary key)");
    TableMigration older = fixture.plan("others", Optional.empty());
    TableMigration run = fixture.run();
    if (code.equals("keys_forgotten")) {
      fixture.undo(run, Phase.EXPAND);
      MigrationFixture.done(forget(run));
    } else {
      fixture.switchKey(run);
      fixture.contract(run);
      MigrationFixture.done(
          fixture
              .migrations()
              .retire(run.id(), NewKeys.FUNCTION, ActionRequest.by(MigrationFixture.ACTOR)));
    }

    assertThat(fixture.refused(older)).extracting(Diagnostic::code).containsExactly(code);
  }

  @Test
  void whatStillNeedsTheArchiveIsNamed() {
    fixture.orders(10);
    TableMigration first = fixture.run();
    // The gateway may not know of the triggers: its database was restored from a backup.
    state("false", "cancelled");
    assertThat(refusal(first)).contains("still in the source");
    fixture.execute("insert into orders default values");
    state("true", "done");
    fixture.undo(first, Phase.EXPAND);
    String archive =
        fixture
            .texts(
                "select relname from pg_class where relname like 'archive%' and relkind = 'r'"
                    + " and relnamespace = 'coatcheck_migration'::regnamespace")
            .getFirst();
    fixture.execute(
        "create view old_keys as select * from coatcheck_migration.\"" + archive + "\"");
    assertThat(refusal(first)).contains("view public.old_keys depends on", archive);
    fixture.execute("drop view old_keys");

    // A run that would take its keys from there.
    TableMigration second = fixture.plan();
    assertThat(refusal(second)).contains("Cancel the run first");
    assertThat(refusal(first)).contains("Run " + second.id(), "planned", "First cancel that run.");
    fixture.run(second);
    assertThat(refusal(first)).contains("Run " + second.id(), "First undo and cancel that run.");
    assertThat(archives()).isEqualTo(1);
  }

  @Test
  void aRunOfTheTableIsKnownByItsArchiveAndNotByItsName() {
    fixture.orders(10);
    TableMigration first = fixture.run();
    fixture.undo(first, Phase.EXPAND);
    fixture.execute("alter table orders rename to purchases");
    TableMigration second = fixture.plan("purchases", Optional.of("created_at"));

    assertThat(refusal(first)).contains("Run " + second.id(), "planned", "First cancel that run.");

    MigrationFixture.done(
        fixture.migrations().cancel(second.id(), ActionRequest.by(MigrationFixture.ACTOR)));
    fixture.orders(10);
    TableMigration other =
        fixture.plan(
            "orders", fixture.gateway.type("other", "oth", KeyKind.BIGINT), Optional.empty());
    assertThat(other.target().anchors().firstName()).isNotEqualTo(other.target().table());
    MigrationFixture.done(forget(first));
    assertThat(archives()).isZero();
  }

  /** Else a later run would give the rows other keys than their public IDs have. */
  @Test
  void aGatewayThatDiesAfterTheDropHasWrittenThatTheKeysAreForgotten() {
    fixture.orders(10);
    TableMigration run = fixture.run();
    fixture.undo(run, Phase.EXPAND);
    TestSql gateway = fixture.gateway.on.sql();
    gateway.execute(
        "alter table coatcheck.table_migration_event"
            + " add constraint dies check (kind <> 'forget' or actor <> '%s')"
                .formatted(MigrationFixture.ACTOR));

    assertThatThrownBy(() -> forget(run)).hasMessageContaining("dies");

    assertThat(archives()).isZero();
    assertThat(fixture.refused("orders"))
        .extracting(Diagnostic::code)
        .containsExactly("keys_forgotten");
    gateway.execute("alter table coatcheck.table_migration_event drop constraint dies");
    MigrationFixture.done(forget(run));
  }

  /** Nothing of the run is in the source by then, whatever was asked for meanwhile. */
  @Test
  void aVerificationThatBeganMeanwhileDoesNotHideARetirement() {
    fixture.orders(10);
    TableMigration run = fixture.run();
    fixture.switchKey(run);
    fixture.contract(run);
    Retirement retirement =
        new Retirement(
            fixture.migrations().journal(), fixture.sources(), fixture.gatewayMappings());

    Function<TableMigration, Transition.Decision> decision =
        retirement.retire(run.id(), NewKeys.NONE);

    TableMigration contracted = fixture.now(run);
    TableMigration verifying =
        contracted.with(
            contracted.status().to(RunState.RUNNING).towards(Goal.VERIFY, Optional.empty()));
    assertThat(decision.apply(verifying))
        .isEqualTo(
            new Transition.Decision.Change(
                verifying.with(verifying.status().occupying(false)), "retire", "new keys: none"));
  }

  private void state(String occupies, String state) {
    fixture
        .gateway
        .on
        .sql()
        .execute(
            "update coatcheck.table_migration set occupies = %s, state = '%s'"
                .formatted(occupies, state));
  }

  private IdempotentResult<ActionOutcome> forget(TableMigration run) {
    return fixture.migrations().forget(run.id(), ActionRequest.by(MigrationFixture.ACTOR));
  }

  private String refusal(TableMigration run) {
    IdempotentResult<ActionOutcome> result = forget(run);
    if (result
        instanceof
        IdempotentResult.Unkeyed<ActionOutcome>(ActionOutcome.NotNow(RunState _, String detail))) {
      return detail;
    }
    throw new AssertionError(result);
  }

  private long archives() {
    return fixture.count(
        "select count(*) from pg_class where relname like 'archive%' and relkind = 'r'"
            + " and relnamespace = to_regnamespace('coatcheck_migration')");
  }

  private boolean hasSchema() {
    return fixture.count("select count(*) from pg_namespace where nspname = 'coatcheck_migration'")
        > 0;
  }
}
