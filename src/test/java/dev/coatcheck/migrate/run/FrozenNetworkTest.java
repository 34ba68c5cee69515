package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.cluster.lease.FaultProxy.Trap;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.session.Patience;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The network between gateway and source swallows everything, at the worst moment. */
class FrozenNetworkTest {
  private static final int ROWS = 500;
  private static final Patience SHORT = new Patience(200, 1_000, 2_000, 1_000);

  private final TestDatabase database = TestDatabase.empty();
  private FaultProxy proxy;

  @BeforeEach
  void listen() throws IOException {
    proxy = new FaultProxy(database.port());
  }

  @AfterEach
  void close() throws IOException {
    proxy.close();
  }

  /** A batch, the scan for open rows, an index, the check, and a scan of the verification. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "for no key update of t",
        "snowflake_id is null and",
        "create unique index concurrently",
        "validate constraint",
        "where a.legacy = t.\"id\")"
      })
  void aRunWaitsAndGoesOnByItselfWhenTheNetworkIsBack(String statement) {
    try (MigrationFixture fixture = behindProxy(SHORT)) {
      fixture.orders(ROWS);
      proxy.freezeAt(new Trap(statement, true, true));
      TableMigration run = fixture.startWith(throttleSettings -> throttleSettings);

      requireGivenUp(fixture, run);
      proxy.freeze(false);

      fixture.await(run, RunState.DONE);
      assertThat(fixture.now(run).status().reason()).isEmpty();
      fixture.requireOrderedKeys();
    }
  }

  @Test
  @Tag("faults")
  void soItDoesWithTheRealBounds() {
    try (MigrationFixture fixture = behindProxy(Patience.DEFAULT)) {
      fixture.orders(ROWS);
      proxy.freezeAt(new Trap("create unique index concurrently", true, true));
      TableMigration run = fixture.startWith(throttleSettings -> throttleSettings);

      requireGivenUp(fixture, run);
      proxy.freeze(false);

      fixture.await(run, RunState.DONE);
      fixture.requireOrderedKeys();
    }
  }

  /**
   * The server goes on with an index whose client was cut off: what the catalog says then is not
   * how it ends.
   */
  @Test
  void whatWasUnderWayIsEndedBeforeTheRunGoesOn() {
    try (TestSession report = database.sql().session();
        MigrationFixture fixture = behindProxy(SHORT)) {
      fixture.orders(ROWS);
      fixture.execute("create table elsewhere (n int)");
      proxy.freezeAt(new Trap("create unique index concurrently", true, true));
      report.beginSnapshot();
      TableMigration run = fixture.startWith(throttleSettings -> throttleSettings);
      requireGivenUp(fixture, run);
      long left = builders(database).getFirst();

      proxy.freeze(false);
      fixture.await(() -> builders(database).stream().noneMatch(pid -> pid == left));
      fixture.await(() -> !builders(database).isEmpty());
      report.commit();

      fixture.await(run, RunState.DONE);
      fixture.requireOrderedKeys();
      assertThat(
              fixture.column(
                  "select indexrelid::oid from pg_index"
                      + " where indrelid = 'orders'::regclass and not indisvalid"))
          .isEmpty();
    }
  }

  /**
   * The process of the statement stands still and can't be ended: as long as it is there, nothing
   * in the catalog can be relied on, and no new statement is begun.
   */
  @Test
  @Tag("faults")
  void whatDoesNotEndIsWaitedFor() throws Exception {
    try (TestHome home = TestHome.fresh();
        EmbeddedDatabase server = EmbeddedDatabase.start(home.path())) {
      TestDatabase shop = new TestDatabase(server.jdbcUrl(), server.user(), server.password());
      proxy.target(shop.port());
      try (TestSession report = shop.sql().session();
          MigrationFixture fixture = MigrationFixture.on(shop.behind(proxy.port()), SHORT)) {
        fixture.orders(ROWS);
        proxy.freezeAt(new Trap("create unique index concurrently", true, true));
        report.beginSnapshot();
        TableMigration run = fixture.startWith(throttleSettings -> throttleSettings);
        requireGivenUp(fixture, run);
        List<Long> left = builders(shop);
        assertThat(left).hasSize(1);
        signal("STOP", left.getFirst());
        try {
          proxy.freeze(false);

          fixture.await(
              () -> fixture.saw(run, "waiting", "the end of what an earlier runner has under way"));

          assertThat(builders(shop)).isEqualTo(left);
        } finally {
          signal("CONT", left.getFirst());
        }
        report.commit();
        fixture.await(run, RunState.DONE);
        fixture.requireOrderedKeys();
      }
    }
  }

  private static void signal(String name, long pid) throws IOException {
    new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().onExit().join();
  }

  private void requireGivenUp(MigrationFixture fixture, TableMigration run) {
    fixture.await(() -> fixture.saw(run, "waiting", "was given up: the server gives no answer"));
    assertThat(fixture.now(run).status().state()).isEqualTo(RunState.RUNNING);
    fixture.awaitReason(run, "the source can't be reached, trying again");
  }

  /** Those that build an index now. */
  private static List<Long> builders(TestDatabase where) {
    return where
        .sql()
        .numbers(
            "select pid from pg_stat_progress_create_index where datname = current_database()");
  }

  private MigrationFixture behindProxy(Patience patience) {
    return MigrationFixture.on(database.behind(proxy.port()), patience);
  }
}
