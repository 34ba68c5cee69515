package dev.coatcheck.ids.redirect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.redirect.LegacyHits.DayCount;
import dev.coatcheck.ids.registry.Policies;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class LegacyHitsTest {
  private static final Observer OBSERVER = new Observer();
  private static final TestDatabase FRESH = TestDatabase.fresh();
  private static final Database DATABASE = database();
  private static final Registry REGISTRY =
      Registry.open(DATABASE, ChangeFeed.none(), new RandomSource(), OBSERVER, System::nanoTime);
  private static final LocalDate FIRST = LocalDate.parse("2026-11-20");
  private static final LocalDate LAST = LocalDate.parse("2026-11-22");

  private final AtomicReference<Instant> now =
      new AtomicReference<>(Instant.parse("2026-11-20T23:59:59Z"));

  @AfterAll
  static void close() {
    REGISTRY.close();
    DATABASE.close();
  }

  @Test
  void twoInstancesAddUpPerTypeAndDayInUtc() throws Exception {
    Type charge = type("charge", "ch");
    Type user = type("user", "usr");
    List<Future<?>> racers = new ArrayList<>();
    try (LegacyHits here = LegacyHits.open(DATABASE, OBSERVER, now::get);
        LegacyHits there = LegacyHits.open(DATABASE, OBSERVER, now::get);
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int thread = 0; thread < 8; thread++) {
        LegacyHits hits = thread % 2 == 0 ? here : there;
        racers.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 500; i++) {
                    hits.count(charge);
                    if (i % 50 == 0) {
                      hits.flush();
                    }
                  }
                }));
      }
      here.count(user);
      for (Future<?> racer : racers) {
        racer.get();
      }
    }
    now.set(Instant.parse("2026-11-21T00:00:00Z"));
    try (LegacyHits later = LegacyHits.open(DATABASE, OBSERVER, now::get)) {
      later.count(charge);
    }

    try (LegacyHits hits = LegacyHits.open(DATABASE, OBSERVER, now::get)) {
      assertThat(hits.of(charge, FIRST, LAST))
          .containsExactly(new DayCount(FIRST, 4_000), new DayCount(FIRST.plusDays(1), 1));
      assertThat(hits.of(user, FIRST, LAST)).containsExactly(new DayCount(FIRST, 1));
      assertThat(hits.of(charge, FIRST.plusDays(1), LAST))
          .containsExactly(new DayCount(FIRST.plusDays(1), 1));
      assertThat(hits.of(charge, LAST, LAST)).isEqualTo(List.of());
    }
  }

  @Test
  void whatCouldNotBeWrittenIsKeptForTheNextTime() {
    Type order = type("order", "ord");
    try (LegacyHits hits = LegacyHits.open(DATABASE, OBSERVER, now::get)) {
      hits.count(order);
      FRESH.setReachable(false);
      try {
        hits.flush();
        hits.count(order);
        hits.flush();
      } finally {
        FRESH.setReachable(true);
      }
      hits.count(order);

      // The first statements after an outage may meet connections that died in it.
      Awaitility.await()
          .ignoreExceptionsInstanceOf(DatabaseUnavailable.class)
          .untilAsserted(
              () -> {
                hits.flush();
                assertThat(hits.of(order, FIRST, LAST)).containsExactly(new DayCount(FIRST, 3));
              });
    }
  }

  private static Type type(String name, String prefix) {
    REGISTRY.put(
        new TypeDefinition(
            name,
            new Prefix(prefix),
            KeyScheme.SNOWFLAKE,
            SnowflakeLayout.DEFAULT,
            Policies.DEFAULT),
        OptionalInt.empty());
    return REGISTRY.named(name).orElseThrow();
  }

  private static Database database() {
    return Database.open(
        new DatabaseSettings(FRESH.url(), FRESH.user(), FRESH.password(), 8), "test", OBSERVER);
  }
}
