package dev.coatcheck.cluster.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.cluster.lease.LaggingStandby;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.connection.SmallPool;
import dev.coatcheck.postgres.embedded.EmbeddedDatabase;
import dev.coatcheck.postgres.embedded.TestHome;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Promise 10 on two real Postgres: the one that is promoted lacks changes that were read. */
@Tag("faults")
class FeedFailoverTest {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Observer OBSERVER = new Observer();

  private static void append(EmbeddedDatabase primary, String... subjects) throws Exception {
    try (Database database =
        Database.open(TestDatabase.on(primary).settings(1), "test", OBSERVER)) {
      database.write(
          "test",
          sql -> {
            ChangeTable.append(sql, ChangeKind.ENDING, List.of(subjects));
            return null;
          });
    }
  }

  @Test
  void aChangeWhoseNumberWasReadBeforeAFailoverIsNotMissed() throws Exception {
    try (TestHome home = TestHome.fresh();
        LaggingStandby servers = LaggingStandby.start(home.folder());
        FaultProxy way = new FaultProxy(TestDatabase.on(servers.primary()).port());
        SmallPool pool =
            SmallPool.ofOne(
                TestDatabase.on(servers.primary()).behind(way.port()).settings(1), "feed")) {
      ChangeFeed feed =
          ChangeFeed.unpolled(pool, OBSERVER, System::nanoTime, System::currentTimeMillis);
      TrustedCache<String, String> cache =
          new TrustedCache<>(feed, ChangeKind.ENDING, (key, _) -> List.of(key), 100);
      append(servers.primary(), "before");
      servers.lag();
      append(servers.primary(), "lost");
      awaitTrust(feed);
      long read = feed.state().position();
      assertThat(cache.get("revoked", MINUTE, _ -> Map.of("revoked", "active"))).contains("active");

      servers.promote();
      append(servers.standby(), "revoked");
      append(servers.standby(), "another");
      way.target(TestDatabase.on(servers.standby()).port());
      way.cut();
      awaitNews(feed, read);

      assertThat(cache.ifTrusted("revoked")).isEmpty();
      assertThat(feed.after(read, 100)).as("what clients ask that had read as far").isEmpty();
    }
  }

  @Test
  void aStandbyIsNotBelievedForItMayLag() throws Exception {
    try (TestHome home = TestHome.fresh();
        LaggingStandby servers = LaggingStandby.start(home.folder());
        SmallPool pool = SmallPool.ofOne(TestDatabase.on(servers.standby()).settings(1), "feed")) {
      await()
          .until(
              () ->
                  new ChangeStore(pool).read(0) instanceof FeedReply.Failed(String reason)
                      && reason.contains("standby"));
    }
  }

  private static void awaitTrust(ChangeFeed feed) {
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              feed.poll();
              return feed.isTrusted();
            });
  }

  /** Polls that fail, because the connection is that to the old primary, tell nothing. */
  private static void awaitNews(ChangeFeed feed, long read) {
    await()
        .atMost(PATIENCE)
        .until(
            () -> {
              feed.poll();
              return feed.state().position() != read && feed.isTrusted();
            });
  }
}
