package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.ids.mapping.OlderId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.LegacyFixture;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.net.URI;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The source is another Postgres, and goes away in the middle. */
@Tag("faults")
class SourceRestartTest {
  private static final int ROWS = 2_000;

  @Test
  void aRunGoesOnWhenItsSourceIsBack() throws Exception {
    try (TestHome home = TestHome.fresh()) {
      EmbeddedDatabase first = EmbeddedDatabase.start(home.path());
      try (FaultProxy proxy = new FaultProxy(port(first));
          MigrationFixture fixture = MigrationFixture.on(behind(first, proxy));
          LegacyFixture legacy = fixture.legacy(fixture.migrations().unmappedRows())) {
        fixture.orders(ROWS);
        TableMigration run = fixture.startInTheMiddle(200);
        fixture.execute("insert into orders (id) values (5000)");
        assertThat(MigrationFixture.find(legacy, fixture.type, ROWS))
            .isInstanceOf(ResolveOutcome.Found.class);

        first.close();
        proxy.cut();
        fixture.awaitReason(run, "the source can't be reached, trying again");
        assertThatThrownBy(() -> legacy.find(new OlderId.LegacyId(fixture.type, ROWS - 1)))
            .isInstanceOf(DatabaseUnavailable.class);
        assertThat(MigrationFixture.find(legacy, fixture.type, ROWS))
            .as("what has its mapping needs no source")
            .isInstanceOf(ResolveOutcome.Found.class);
        assertThat(fixture.now(run).status().state()).isEqualTo(RunState.RUNNING);

        try (EmbeddedDatabase second = EmbeddedDatabase.start(home.path())) {
          proxy.target(port(second));
          fixture.rate(run, 0);
          fixture.await(run, RunState.DONE);
          fixture.requireOrderedKeys();
          assertThat(fixture.now(run).status().reason()).isEmpty();
          fixture.awaitDelivered(run);
          assertThat(mappings(fixture)).isEqualTo(ROWS + 1);
          // All but the one that the look-up filled.
          assertThat(fixture.now(run).progress().rowsDone()).isEqualTo(ROWS - 1);
          fixture.migrations().close();
          fixture.sources().close();
        }
      } finally {
        first.close();
      }
    }
  }

  private static long mappings(MigrationFixture fixture) {
    return fixture.gateway.database.read(
        "test", sql -> sql.fetchSingle("select count(*) from coatcheck.alias").get(0, Long.class));
  }

  private static TestDatabase behind(EmbeddedDatabase database, FaultProxy proxy) {
    return new TestDatabase(
        database.jdbcUrl().replace(":" + port(database) + "/", ":" + proxy.port() + "/"),
        database.user(),
        database.password());
  }

  private static int port(EmbeddedDatabase database) {
    return URI.create(database.jdbcUrl().substring("jdbc:".length())).getPort();
  }
}
