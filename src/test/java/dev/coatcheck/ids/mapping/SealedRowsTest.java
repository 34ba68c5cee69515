package dev.coatcheck.ids.mapping;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.id.Token;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class SealedRowsTest {
  private static final Token NO_ROW = new Token(3, 4);

  /** Each question during a reading is one of a type that isn't read yet. */
  @Test
  void theRowsAreNotReadAgainBecauseTheyAreAskedForMeanwhile() throws Exception {
    try (MappingFixture fixture = new MappingFixture();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      fixture.on.sql().execute("create extension if not exists pg_stat_statements");
      Type type = fixture.sealed("message", "msg", Instant.EPOCH);
      TypedToken id = TypedToken.of(type, NO_ROW);
      AtomicBoolean isOver = new AtomicBoolean();
      Future<?> traffic =
          threads.submit(
              () -> {
                while (!isOver.get()) {
                  fixture.sealedRows.haveNone(id);
                  Thread.onSpinWait();
                }
              });
      Awaitility.await().until(() -> fixture.sealedRows.haveNone(id));
      Awaitility.await()
          .during(Duration.ofMillis(500))
          .until(() -> readings(fixture), new Settled()::isTheSame);
      isOver.set(true);
      traffic.get();
    }
  }

  /** Whether a number is still what it was a second ago, once it had the time to be. */
  private static final class Settled {
    private long last = -1;

    boolean isTheSame(long now) {
      boolean isTheSame = now == last;
      last = now;
      return isTheSame;
    }
  }

  private static long readings(MappingFixture fixture) {
    return fixture
        .on
        .sql()
        .number(
            "select coalesce(sum(calls), 0) from pg_stat_statements where query like"
                + " '%coatcheck.public_id%' and query not like '%pg_stat_statements%'"
                + " and dbid = (select oid from pg_database where datname = current_database())");
  }

  /** The lock keeps the rows from being read, so what is believed meanwhile is seen. */
  @Test
  void afterAMissedChangeNothingIsBelievedUntilAllRowsAreReadAgain() {
    try (MappingFixture fixture = new MappingFixture()) {
      Type type = fixture.sealed("message", "msg", Instant.EPOCH);
      TypedToken id = TypedToken.of(type, NO_ROW);
      Awaitility.await().until(() -> fixture.sealedRows.haveNone(id));

      try (TestSession _ =
          fixture.on.sql().begin("lock table coatcheck.public_id in access exclusive mode")) {
        fixture
            .on
            .sql()
            .execute(
                "delete from coatcheck.change",
                "update coatcheck.change_head set number = number + 10");

        Awaitility.await().until(() -> !fixture.sealedRows.haveNone(id));
        assertThat(fixture.feed.isTrusted()).isTrue();
        assertThat(fixture.sealedRows.haveNone(id)).isFalse();
      }
      Awaitility.await().until(() -> fixture.sealedRows.haveNone(id));
    }
  }
}
