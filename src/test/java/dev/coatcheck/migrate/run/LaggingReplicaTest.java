package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.lease.LaggingStandby;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A source with a real standby that stops replaying on purpose. */
@Tag("faults")
class LaggingReplicaTest {
  private static final int ROWS = 5_000;

  @Test
  void aRunWaitsForAReplicaThatPausedAndGoesOnWhenItHasCaughtUp() throws Exception {
    try (TestHome folder = TestHome.fresh();
        LaggingStandby pair = LaggingStandby.start(folder.folder());
        MigrationFixture fixture =
            MigrationFixture.on(
                new TestDatabase(
                    pair.primary().jdbcUrl(), pair.primary().user(), pair.primary().password()))) {
      fixture.orders(ROWS);
      TableMigration run =
          fixture.startWith(_ -> new ThrottleSettings(100, 200, 0, 2, 0, 0, 0, 0, 0, true));
      fixture.await(() -> fixture.now(run).progress().rowsDone() > 0);

      TestSql.on(pair.standby()).execute("select pg_wal_replay_pause()");
      fixture.awaitReason(run, "a replica is ");
      assertThat(fixture.now(run).status().reason().orElseThrow())
          .endsWith(" s behind, more than 2");
      long before = fixture.now(run).progress().rowsDone();
      assertThat(before).isLessThan(ROWS);

      TestSql.on(pair.standby()).execute("select pg_wal_replay_resume()");
      fixture.await(() -> fixture.now(run).progress().rowsDone() > before);
      fixture.set(run, _ -> new ThrottleSettings(500, 0, 0, 30, 0, 0, 0, 0, 0, true));
      fixture.await(run, RunState.DONE);
      fixture.requireOrderedKeys();
    }
  }
}
