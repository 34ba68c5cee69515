package dev.coatcheck.cluster.instance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Duration;
import java.time.InstantSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class InstancesTest {
  private static final TestDatabase ON = TestDatabase.fresh();
  private static final Database DATABASE = Database.open(ON.settings(2), "test", new Observer());

  @AfterAll
  static void close() {
    DATABASE.close();
  }

  private static Instances named(String holder) {
    Instances instances =
        new Instances(
            DATABASE,
            holder,
            () -> Duration.ofMillis(1_500),
            new Observer(),
            InstantSource.system(),
            Duration.ofMillis(50));
    instances.announce("1.2.3", "http://" + holder + ":8080");
    return instances;
  }

  @Test
  void instancesOfOneDatabaseKnowEachOtherUntilOneStops() {
    try (Instances first = named("a/1")) {
      try (Instances second = named("b/2")) {
        Awaitility.await()
            .untilAsserted(
                () ->
                    assertThat(first.all())
                        .extracting(Instance::holder)
                        .containsExactly("a/1", "b/2"));
        assertThat(second.all().getLast())
            .extracting(Instance::version, Instance::address, Instance::feedSilent)
            .containsExactly("1.2.3", "http://b/2:8080", Duration.ofMillis(1_500));
      }
      assertThat(first.all()).extracting(Instance::holder).containsExactly("a/1");
    }
  }

  @Test
  void oneThatWasKilledIsForgottenAfterFiveMinutes() {
    ON.sql()
        .execute(
            """
            insert into coatcheck.instance
              (holder, version, address, started_at, seen_at, feed_silent_ms)
            values ('killed/1', '1', '', now(), now() - interval '301 s', 0),
                   ('late/1', '1', '', now(), now() - interval '290 s', 0)\
            """);
    try (Instances alive = named("c/3")) {
      assertThat(alive.all()).extracting(Instance::holder).doesNotContain("killed/1");
      Awaitility.await()
          .until(() -> ON.sql().texts("select holder from coatcheck.instance").contains("c/3"));
      assertThat(ON.sql().texts("select holder from coatcheck.instance"))
          .contains("late/1")
          .doesNotContain("killed/1");
    } finally {
      ON.sql().execute("delete from coatcheck.instance where holder = 'late/1'");
    }
  }

  /** The next rounds go on: an outage ends no loop. */
  @Test
  void itIsToldAgainAfterAnOutage() {
    try (Instances alive = named("d/4")) {
      Awaitility.await().until(() -> alive.all().stream().anyMatch(InstancesTest::isD));
      ON.setReachable(false);
      ON.setReachable(true);
      ON.sql().execute("delete from coatcheck.instance where holder = 'd/4'");

      Awaitility.await()
          .ignoreExceptions() // until the pool has noticed
          .until(() -> alive.all().stream().anyMatch(InstancesTest::isD));
    }
  }

  private static boolean isD(Instance instance) {
    return instance.holder().equals("d/4");
  }
}
