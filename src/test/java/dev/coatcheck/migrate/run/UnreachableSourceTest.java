package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.mapping.UnmappedRows;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Sources that can't be reached, beside one that can. */
@Tag("faults")
class UnreachableSourceTest {
  /** More than runs that one source may have under way at an instance. */
  private static final int DEAD = 5;

  /** Far less than five silent sources take one after the other, ten seconds each. */
  private static final Duration SOON = Duration.ofSeconds(25);

  enum Way {
    REFUSED,
    SILENT
  }

  @Test
  void theyHoldUpNeitherTheOutboxNorTheRunsOfAnother() throws Exception {
    requireUnhindered(Way.REFUSED);
  }

  @Test
  void norDoTheyIfNobodyAnswers() throws Exception {
    requireUnhindered(Way.SILENT);
  }

  private static void requireUnhindered(Way way) throws Exception {
    try (MigrationFixture shop = MigrationFixture.apart();
        FaultProxy proxy = new FaultProxy(URI.create(shop.settings.url().substring(5)).getPort());
        ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Sources sources = sources(shop, proxy)) {
      List<Type> dead = new ArrayList<>();
      try (TableMigrations migrations = shop.start(sources, "one")) {
        shop.execute(
            "create table orders (id bigserial primary key)",
            "insert into orders select from generate_series(1, 100)");
        finish(migrations, "shop", "orders", shop.type);
        for (int i = 0; i < DEAD; i++) {
          Type type = shop.gateway.type("dead" + i, "dead" + i, KeyKind.BIGINT);
          shop.execute("create table dead%d (id bigserial primary key)".formatted(i));
          MigrationFixture.plan(migrations, "dead" + i, "dead" + i, type);
          dead.add(type);
        }
      }
      // As if each of them was in the middle of its backfill.
      shop.gateway
          .on
          .sql()
          .execute(
              "update coatcheck.table_migration set state = 'running', occupies = true where state"
                  + " = 'planned'");
      shop.gateway
          .on
          .sql()
          .execute(
              "update coatcheck.table_migration_step set state = 'verified' where phase ="
                  + " 'expand'");
      switch (way) {
        // The system accepts connections for it; nobody answers.
        case SILENT -> {
          proxy.target(silent.getLocalPort());
          proxy.cut();
        }
        case REFUSED -> proxy.refuse();
      }

      try (TableMigrations migrations = shop.start(sources, "two")) {
        Awaitility.await().until(() -> waiting(migrations) >= 4);
        long beganNano = System.nanoTime();
        for (int i = 1; i <= 3; i++) {
          shop.execute("insert into orders default values");
          int expected = 100 + i;
          Awaitility.await()
              .atMost(Duration.ofMinutes(3))
              .pollInterval(Duration.ofMillis(20))
              .until(() -> shop.aliases() == expected);
        }
        shop.execute("alter table orders rename to orders_now");
        Awaitility.await()
            .atMost(Duration.ofMinutes(3))
            .until(
                () ->
                    migrations.journal().list().stream()
                        .anyMatch(UnreachableSourceTest::isRenamed));
        assertThat(Duration.ofNanos(System.nanoTime() - beganNano)).isLessThan(SOON);

        requireLookUps(migrations.unmappedRows(), shop.type, dead);

        Type other = shop.gateway.type("other", "other", KeyKind.BIGINT);
        shop.execute("create table other (id bigserial primary key)");
        finish(migrations, "shop", "other", other);
      }
    }
  }

  /** While callers ask each of the dead sources for a row, again and again. */
  private static void requireLookUps(UnmappedRows rows, Type sound, List<Type> dead)
      throws InterruptedException {
    AtomicBoolean stopped = new AtomicBoolean();
    CountDownLatch refused = new CountDownLatch(DEAD);
    List<Thread> callers =
        dead.stream()
            .map(type -> Thread.startVirtualThread(() -> ask(rows, type, stopped, refused)))
            .toList();
    assertThat(refused.await(2, TimeUnit.MINUTES)).isTrue();
    for (long id = 1; id <= 20; id++) {
      assertThat(rows.fillOnDemand(sound, id)).isTrue();
    }
    stopped.set(true);
    for (Thread caller : callers) {
      caller.join();
    }
  }

  private static void ask(
      UnmappedRows rows, Type type, AtomicBoolean stopped, CountDownLatch refused) {
    while (!stopped.get()) {
      try {
        rows.fillOnDemand(type, 1);
      } catch (DatabaseUnavailable gone) {
        refused.countDown();
      }
    }
  }

  /** All in the same database, each by a way of its own. */
  private static Sources sources(MigrationFixture shop, FaultProxy proxy) {
    Map<String, DatabaseSettings> named = new HashMap<>();
    named.put("shop", shop.settings);
    String behind = shop.settings.url().replaceFirst(":[0-9]+/", ":" + proxy.port() + "/");
    IntStream.range(0, DEAD)
        .forEach(
            i ->
                named.put(
                    "dead" + i,
                    new DatabaseSettings(
                        behind, shop.settings.user(), shop.settings.password(), 4)));
    return new Sources(shop.gatewaySettings(), named, shop.gateway.observer);
  }

  private static void finish(TableMigrations migrations, String source, String table, Type type) {
    TableMigration run = MigrationFixture.plan(migrations, source, table, type);
    List<String> accepted =
        run.plan().preconditions().stream().map(one -> one.code()).collect(Collectors.toList());
    MigrationFixture.done(
        migrations.start(run.id(), accepted, ActionRequest.by(MigrationFixture.ACTOR)));
    Awaitility.await()
        .atMost(Duration.ofMinutes(2))
        .until(
            () ->
                migrations.journal().find(run.id()).orElseThrow().status().state()
                    == RunState.DONE);
  }

  /** Runs that an instance has taken up. */
  private static long waiting(TableMigrations migrations) {
    return migrations.journal().list().stream()
        .filter(run -> run.source().startsWith("dead"))
        .filter(
            run ->
                run.status().reason().filter(why -> why.contains("can't be reached")).isPresent())
        .count();
  }

  private static boolean isRenamed(TableMigration run) {
    return run.target().table().table().equals("orders_now");
  }
}
