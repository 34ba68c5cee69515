package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.cluster.lease.FaultProxy.Trap;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.IOException;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The network between gateway and source swallows everything, at the worst moment. */
@Tag("faults")
class FrozenNetworkTest {
  private static final int ROWS = 500;
  private static final WatchTimeouts SHORT = new WatchTimeouts(200, 1_000, 2_000, 1_000);

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
    try (MigrationFixture fixture = MigrationFixture.behindProxy(SHORT)) {
      fixture.orders(ROWS);
      fixture.proxy().freezeAt(new Trap(statement, true, true));
      TableMigration run = fixture.startWith(UnaryOperator.identity());

      requireGivenUp(fixture, run);
      fixture.proxy().freeze(false);

      fixture.await(run, RunState.DONE);
      assertThat(fixture.now(run).status().reason()).isEmpty();
      fixture.requireOrderedKeys();
    }
  }

  @Test
  void soItDoesWithTheRealBounds() {
    try (MigrationFixture fixture = MigrationFixture.behindProxy(WatchTimeouts.DEFAULT)) {
      fixture.orders(ROWS);
      fixture.proxy().freezeAt(new Trap("create unique index concurrently", true, true));
      TableMigration run = fixture.startWith(UnaryOperator.identity());

      requireGivenUp(fixture, run);
      fixture.proxy().freeze(false);

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
    try (MigrationFixture fixture = MigrationFixture.behindProxy(SHORT);
        TestSession report = fixture.sql().session()) {
      fixture.orders(ROWS);
      fixture.execute("create table elsewhere (n int)");
      fixture.proxy().freezeAt(new Trap("create unique index concurrently", true, true));
      report.beginSnapshot();
      TableMigration run = fixture.startWith(UnaryOperator.identity());
      requireGivenUp(fixture, run);
      long left = builders(fixture.sql()).getFirst();

      fixture.proxy().freeze(false);
      fixture.await(() -> builders(fixture.sql()).stream().noneMatch(pid -> pid == left));
      fixture.await(() -> !builders(fixture.sql()).isEmpty());
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
  void whatDoesNotEndIsWaitedFor() throws Exception {
    try (TestHome home = TestHome.fresh();
        EmbeddedDatabase server = EmbeddedDatabase.start(home.path())) {
      TestDatabase shop = TestDatabase.on(server);
      try (FaultProxy proxy = new FaultProxy(shop.port());
          TestSession report = shop.sql().session();
          MigrationFixture fixture = MigrationFixture.on(shop.behind(proxy.port()), SHORT)) {
        fixture.orders(ROWS);
        proxy.freezeAt(new Trap("create unique index concurrently", true, true));
        report.beginSnapshot();
        TableMigration run = fixture.startWith(UnaryOperator.identity());
        requireGivenUp(fixture, run);
        List<Long> left = builders(shop.sql());
        assertThat(left).hasSize(1);
        signal("STOP", left.getFirst());
        try {
          proxy.freeze(false);

          fixture.await(
              () -> fixture.saw(run, "waiting", "the end of what an earlier runner has under way"));

          assertThat(builders(shop.sql())).isEqualTo(left);
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
  private static List<Long> builders(TestSql where) {
    return where.numbers(
        "select pid from pg_stat_progress_create_index where datname = current_database()");
  }
}
