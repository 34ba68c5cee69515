package dev.coatcheck.cluster.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.coatcheck.Breakage;
import dev.coatcheck.BrokenBy;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.Waiter;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.IOException;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Promise 20 on two real Postgres: one worker, and a database that knows less than its holder. */
@Tag("faults")
class LaggingStandbyTest {
  private static final long WINDOW_MILLIS = 10_000;
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private final AcknowledgedKeys acknowledged = new AcknowledgedKeys();

  /** A gateway's lease, and its way to the database. */
  private final class Holder implements AutoCloseable {
    private final String name;
    private final FaultProxy way;
    private final HikariDataSource pool;
    private final WorkerLease lease;
    private long keys;

    Holder(String name, EmbeddedDatabase database) throws Exception {
      this.name = name;
      this.way = new FaultProxy(TestDatabase.on(database).port());
      this.pool = LeaseDatabase.pool(TestDatabase.on(database).behind(way.port()));
      LeaseSettings settings =
          new LeaseSettings(SnowflakeLayout.DEFAULT, 0, 0, name, WINDOW_MILLIS);
      this.lease =
          new WorkerLease(
                  settings,
                  new WorkerLeaseStore(pool, settings, Defect.current().conditions())::send,
                  LeaseRules.KEPT,
                  Waiter.PARKING,
                  null,
                  _ -> {})
              .start();
    }

    /** The old database is fenced for this gateway at the same time. */
    void turnTo(EmbeddedDatabase database) {
      way.target(TestDatabase.on(database).port());
      way.cut();
    }

    boolean draws() {
      return switch (lease.next(1)) {
        case KeyOutcome.Drawn drawn -> {
          long key = ((Key.Bigint) drawn.keys().getFirst()).value();
          acknowledged.record(name, key, 1);
          acknowledged.requireUnique();
          keys++;
          yield true;
        }
        case KeyOutcome.NoKeys _ -> false;
      };
    }

    @Override
    public void close() throws IOException {
      lease.close();
      pool.close();
      way.close();
    }
  }

  /** Both draw all the time: from the rest of a window, while they wait, and 1,000 keys after. */
  private void drawOnBoth(Holder old, Holder young) {
    await("the window ends, and no other has begun")
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(2))
        .until(() -> drawing(old, young) == 0);
    assertThat(young.keys).as("keys within the rest").isZero();
    long before = acknowledged.count();
    await("the rest ends")
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(2))
        .until(() -> drawing(old, young) > 0 && acknowledged.count() >= before + 1_000);
  }

  /** Lets every holder draw, and counts those that got keys. */
  private static long drawing(Holder... holders) {
    return Stream.of(holders).map(Holder::draws).filter(Boolean::booleanValue).count();
  }

  @Test
  @BrokenBy("registered-without-rest")
  void aStandbyThatMissedTheFirstRegistrationMakesNoKeyTwice() throws Exception {
    try (TestHome folder = TestHome.fresh();
        LaggingStandby pair = LaggingStandby.start(folder.folder())) {
      pair.lag();
      failOver(pair);
    }
  }

  @Test
  void aStandbyThatMissedTheLastGrantMakesNoKeyTwice() throws Exception {
    try (TestHome folder = TestHome.fresh();
        LaggingStandby pair = LaggingStandby.start(folder.folder())) {
      try (Holder first = new Holder("first", pair.primary())) {
        await().atMost(PATIENCE).until(first::draws);
      }
      TestSql.on(pair.primary())
          .execute("update coatcheck.worker_lease set granted_until_ms = 0 where worker = 0");
      pair.lag();
      failOver(pair);
    }
  }

  private void failOver(LaggingStandby pair) throws Exception {
    try (Holder old = new Holder("old", pair.primary());
        Holder young = new Holder("young", pair.standby())) {
      await().atMost(PATIENCE).until(old::draws);
      old.turnTo(pair.standby());
      pair.promote();
      drawOnBoth(old, young);
    }
  }

  @Test
  @BrokenBy("registered-without-rest")
  void aCopyOnAnotherSystemWithoutTheRegistrationMakesNoKeyTwice() throws Exception {
    try (TestHome folder = TestHome.fresh();
        EmbeddedDatabase original = LaggingStandby.migrated(folder.folder().resolve("original"));
        EmbeddedDatabase copy = LaggingStandby.migrated(folder.folder().resolve("copy"))) {
      String origin = "select system_identifier from coatcheck.worker_lease_origin";
      TestSql.on(copy)
          .execute(
              "update coatcheck.worker_lease_origin set system_identifier = "
                  + TestSql.on(original).text(origin));
      try (Holder old = new Holder("old", original)) {
        await().atMost(PATIENCE).until(old::draws);
        try (Holder young = new Holder("young", copy)) {
          old.turnTo(copy);
          drawOnBoth(old, young);
        }
      }
    }
  }

  @TestFactory
  Stream<DynamicTest> everyDefectIsFound() {
    return Breakage.requireRed(this);
  }
}
