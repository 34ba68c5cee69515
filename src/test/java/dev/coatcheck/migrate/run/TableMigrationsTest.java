package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.journal.Asked;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.StepState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableMigrationsTest {
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aRunGoesThroughAllPhasesAndBackAndGivesTheSameKeysAgain(boolean beside) {
    try (MigrationFixture fixture = MigrationFixture.of(beside)) {
      fixture.execute(
          "create table orders (id bigserial primary key, created_at timestamptz default now())",
          "insert into orders (created_at) select now() - make_interval(secs => 20000 - n)"
              + " from generate_series(1, 10000) n");
      TableMigration run = fixture.plan("orders", Optional.of("created_at"));

      TableMigration done = fixture.run(run);

      assertThat(done.progress().rowsDone()).isEqualTo(10_000);
      assertThat(fixture.migrations().journal().steps(run.id()))
          .allMatch(
              step ->
                  step.state()
                      == (step.phase().isUsual() ? StepState.VERIFIED : StepState.PENDING));
      fixture.execute("insert into orders default values");
      Awaitility.await().until(() -> aliases(fixture) == 10_001);
      List<Long> keys = fixture.column("select snowflake_id from orders order by id");

      for (Phase phase : List.of(Phase.NOT_NULL, Phase.INDEX)) {
        fixture.undo(run, phase);
      }
      MigrationFixture.done(
          fixture.migrations().resume(run.id(), Asked.by(MigrationFixture.ACTOR)));
      fixture.await(run, RunState.DONE);
      fixture.undo(run, Phase.EXPAND);

      assertThat(fixture.count("select count(*) from pg_trigger where tgname like '~coat%'"))
          .isZero();
      fixture.run(fixture.plan("orders", Optional.of("created_at")));
      assertThat(fixture.column("select snowflake_id from orders order by id")).isEqualTo(keys);
      assertThat(aliases(fixture)).isEqualTo(10_001);
    }
  }

  private static long aliases(MigrationFixture fixture) {
    return fixture.gateway.database.read(
        "test", sql -> sql.fetchSingle("select count(*) from coatcheck.alias").get(0, Long.class));
  }
}
