package dev.coatcheck.cluster.grant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.key.DatedKeyGenerator;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.UnusableDatabase;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestServer;
import dev.coatcheck.postgres.sql.TestSql;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Promise 21a on real promotions: two standbys that missed all keys of those before them. */
@Tag("faults")
class DatedFailoverTest {
  private static final SnowflakeLayout LAYOUT = SnowflakeLayout.DEFAULT;
  private static final long AT = Instant.parse("2024-06-30T12:00:00Z").toEpochMilli();

  private final Set<Key> seen = new HashSet<>();

  @Test
  void standbysThatNeverSawEachOtherMakeNoKeyTwiceAndStayAlive() throws Exception {
    try (TestHome folder = TestHome.fresh()) {
      Path a = folder.folder().resolve("a");
      try (EmbeddedDatabase first = EmbeddedDatabase.start(a, TestServer.PROGRAMS)) {
        TestSql.on(first).migrate();
      }
      Path b = standby(a, "b");
      Path c = standby(a, "c");
      try (EmbeddedDatabase first = EmbeddedDatabase.start(a, TestServer.PROGRAMS);
          Database database = open(first)) {
        draw18000(database);
      }
      try (EmbeddedDatabase second = promoted(b);
          Database database = open(second)) {
        lift(database, 2);
        draw18000(database);
        assertThat(seen).hasSize(2 * 18_000);
      }
      try (EmbeddedDatabase third = promoted(c);
          Database database = open(third)) {
        lift(database, 3);
        draw18000(database);
      }
    }
    assertThat(seen).hasSize(3 * 18_000);
  }

  private static Path standby(Path of, String name) throws IOException {
    Path home = of.resolveSibling(name);
    try (Stream<Path> files = Files.walk(of)) {
      for (Path file : files.toList()) {
        Files.copy(file, home.resolve(of.relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
    Files.createFile(home.resolve("data/standby.signal"));
    return home;
  }

  private static EmbeddedDatabase promoted(Path home) throws UnusableDatabase {
    EmbeddedDatabase database = EmbeddedDatabase.start(home, TestServer.PROGRAMS);
    TestSql sql = TestSql.on(database);
    sql.execute("select pg_promote()");
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> "f".equals(sql.text("select pg_is_in_recovery()")));
    return database;
  }

  private static Database open(EmbeddedDatabase database) {
    return Database.open(TestDatabase.on(database).settings(2), "dated", new Observer());
  }

  private static DatedKeyGenerator keys(Database database) {
    return new DatedKeyGenerators(database, WorkerUses::dated, new Observer())
        .of(new KeyTimes.Snowflakes(LAYOUT))
        .orElseThrow();
  }

  private static void lift(Database database, int datedWorker) {
    assertThat(keys(database).at(new long[] {AT})).isEqualTo(new KeyOutcome.Fenced());
    assertThat(new KeyFence(database).lift(0, datedWorker, Actor.operator()))
        .isEqualTo(new KeyFence.Lift.Open(true, 0, datedWorker));
  }

  /** In one tick, which has room for 4,096. */
  private void draw18000(Database database) {
    long[] times = new long[1_000];
    Arrays.fill(times, AT);
    for (int call = 0; call < 18; call++) {
      assertThat(keys(database).at(times))
          .isInstanceOfSatisfying(KeyOutcome.Drawn.class, drawn -> seen.addAll(drawn.keys()));
    }
  }
}
