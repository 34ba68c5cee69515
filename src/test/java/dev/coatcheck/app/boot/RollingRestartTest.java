package dev.coatcheck.app.boot;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.FreePort;
import dev.coatcheck.MachineDelay;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.app.boot.SteadyLoad.Failed;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.migrate.run.MigrationFixture;
import dev.coatcheck.migrate.run.RunEvent;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three gateways on one Postgres behind nginx, replaced one after the other, and one killed. */
@Tag("faults")
class RollingRestartTest {
  private static final int INSTANCES = 3;
  private static final int PER_SECOND = Integer.getInteger("rate", 1_000);
  private static final int ROWS = 5_000;
  private static final int ITEMS_MAX = 1_000;
  private static final int WARM_UP_SECONDS = 2;
  private static final Duration SPREAD_MAX = Duration.ofSeconds(2);
  private static final Duration LATE_MAX = Duration.ofMillis(250);

  /** So that the backfill lasts until the last instance has been replaced. */
  private static final ThrottleSettings SLOWLY =
      new ThrottleSettings(100, 40, 0, 10, 0, 5, 600, 0, 0, true);

  @TempDir Path folder;

  private final List<GatewayChild> gateways = new ArrayList<>();
  private String apiKey = "";

  @AfterEach
  void killAll() {
    gateways.forEach(GatewayChild::kill);
  }

  @Test
  void aRollingRestartFailsNothingAndAKillOnlyWhatWasUnderWay() throws Exception {
    assumeTrue(InstancesNginx.isInstalled(), "nginx is not installed");
    try (MigrationFixture desk = MigrationFixture.desk();
        MachineDelay machine = MachineDelay.measure()) {
      apiKey = GatewayFixture.keyOn(desk.gateway.on);
      startAll(desk.gateway.on);
      at(0).put(TestType.of("charge", "ch"));
      desk.orders(ROWS);
      TableMigration run = desk.startWith(_ -> SLOWLY);
      await().until(() -> desk.now(run).progress().rowsDone() > 0);
      Reply first = warmUp();
      try (InstancesNginx nginx =
              new InstancesNginx(folder, gateways.stream().map(GatewayChild::port).toList());
          SteadyLoad load =
              new SteadyLoad(
                  nginx.port(), apiKey, PER_SECOND, first.text("/id"), first.text("/key"))) {
        await().until(() -> load.sent() >= WARM_UP_SECONDS * PER_SECOND);
        replaceAll(desk, nginx, load, machine);
        int killed = killTheRunner(desk, load, run, machine);
        load.close();
        requireAllThere(at(other(killed)), load);
      }
      requireBackfilled(desk, run);
    }
  }

  private void startAll(TestDatabase database) throws Exception {
    try (ExecutorService starts = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<GatewayChild>> started =
          Stream.generate(() -> starts.submit(() -> GatewayChild.serve(database, FreePort.next())))
              .limit(INSTANCES)
              .toList();
      for (Future<GatewayChild> one : started) {
        gateways.add(one.get());
      }
    }
  }

  /** Three that begin at the same time on two cores are slower than one that is replaced. */
  private Reply warmUp() {
    for (int i = 0; i < 20 * INSTANCES; i++) {
      Reply minted = at(i % INSTANCES).mint("charge");
      at(other(i % INSTANCES)).get("/v1/ids/" + minted.text("/id"));
      at(other(i % INSTANCES)).get("/v1/types/charge/keys/" + minted.text("/key"));
    }
    return at(0).mint("charge");
  }

  private TestClient at(int instance) {
    return new TestClient(gateways.get(instance).uri(), apiKey);
  }

  private static int other(int instance) {
    return (instance + 1) % INSTANCES;
  }

  private void replaceAll(
      MigrationFixture desk, InstancesNginx nginx, SteadyLoad load, MachineDelay machine)
      throws Exception {
    for (int i = 0; i < INSTANCES; i++) {
      int port = gateways.get(i).port();
      nginx.takeOut(port);
      assertThat(gateways.get(i).terminate()).isEqualTo(128 + 15);
      gateways.set(i, GatewayChild.serve(desk.gateway.on, port));
      TestClient replaced = at(i);
      await().until(() -> replaced.once().get("/health/ready").status() == 200);
      nginx.putBack(port);
      requireAgreement(i, machine);
      System.out.println("RollingRestartTest: replaced " + (i + 1) + ": " + load);
    }
    requireSound(load, machine);
    assertThat(load.failures()).as("%s", load).isEmpty();
  }

  /** Says that the machine can't do what is asked of it, rather than that the gateways failed. */
  private static void requireSound(SteadyLoad load, MachineDelay machine) {
    if (!load.failures().isEmpty() || load.latenessP99().compareTo(LATE_MAX) > 0) {
      machine.requireTimely();
    }
    assertThat(load.latenessP99()).as("requests are sent when they are due").isLessThan(LATE_MAX);
  }

  /** What one instance does, the others know. */
  private void requireAgreement(int round, MachineDelay machine) throws Exception {
    TestClient here = at(round);
    TestClient there = at(other(round));
    TestClient third = at(other(other(round)));

    assertThat(here.put(TestType.of("round" + round, "r" + round)).status()).isEqualTo(201);
    assertThat(there.once().mint("round" + round).status()).isEqualTo(201);

    try (ExecutorService both = Executors.newVirtualThreadPerTaskExecutor()) {
      String once = "round-" + round;
      Future<Reply> one = both.submit(() -> here.with("Idempotency-Key", once).mint("charge"));
      Future<Reply> same = both.submit(() -> there.with("Idempotency-Key", once).mint("charge"));
      assertThat(one.get().status()).isEqualTo(201);
      assertThat(same.get().text("/id")).isEqualTo(one.get().text("/id"));
    }

    assertThat(
            Stream.of(here, there, third)
                .map(client -> Long.parseLong(client.mint("charge").text("/key")) >> 12 & 1023))
        .as("workers")
        .doesNotHaveDuplicates();

    String id = here.mint("charge").text("/id");
    List<TestClient> others = List.of(there, third);
    others.forEach(client -> assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(200));
    long sentNano = System.nanoTime();
    assertThat(here.post("/v1/ids/" + id + "/revoke", "{}").status()).isEqualTo(200);
    for (TestClient client : others) {
      await().until(() -> client.once().get("/v1/ids/" + id).status() == 410);
      machine.requireWithin(SPREAD_MAX, Duration.ofNanos(System.nanoTime() - sentNano));
    }
  }

  /** SIGKILL for the one that does the backfill; which that was. */
  private int killTheRunner(
      MigrationFixture desk, SteadyLoad load, TableMigration run, MachineDelay machine)
      throws Exception {
    long pid = runner(desk);
    int killed =
        IntStream.range(0, INSTANCES).filter(i -> gateways.get(i).pid() == pid).findFirst().orElseThrow();
    long rowsDone = desk.now(run).progress().rowsDone();
    int underWay = load.underWay();
    long beforeNano = System.nanoTime();
    gateways.get(killed).kill();
    long goneNano = System.nanoTime();

    await().until(() -> runner(desk) != pid && desk.now(run).progress().rowsDone() > rowsDone);
    requireSound(load, machine);
    List<Failed> failures = load.failures();
    System.out.printf(
        "RollingRestartTest: killed: %d of about %d requests under way failed, %s%n%s",
        failures.size(), underWay, load, failures.stream().map(one -> one + "\n").collect(Collectors.joining()));
    assertThat(failures)
        .as("under way when the instance died")
        .allMatch(failed -> failed.sentNano() < goneNano && failed.endedNano() > beforeNano);
    return killed;
  }

  private static long runner(MigrationFixture desk) {
    return desk.count(
        "select substring(holder from '[0-9]+$') from coatcheck.table_migration limit 1");
  }

  /** Acknowledged mints are there, once; those that failed are done once by sending them again. */
  private static void requireAllThere(TestClient api, SteadyLoad load) {
    Map<String, String> keysById = new HashMap<>(load.keysById());
    for (String idempotencyKey : load.unsettled()) {
      Reply settled = api.with("Idempotency-Key", idempotencyKey).mint("charge");
      assertThat(settled.status()).isEqualTo(201);
      assertThat(keysById.put(settled.text("/id"), settled.text("/key"))).isNull();
    }
    assertThat(keysById.values()).doesNotHaveDuplicates().hasSizeGreaterThan(PER_SECOND / 10);
    List<String> ids = List.copyOf(keysById.keySet());
    for (int from = 0; from < ids.size(); from += ITEMS_MAX) {
      List<String> some = ids.subList(from, Math.min(from + ITEMS_MAX, ids.size()));
      Reply resolved = api.post("/v1/ids/resolve", json("ids", some));
      assertThat(
              resolved.body().path("data").valueStream()
                  .map(item -> item.at("/public_id/key").asString("")))
          .isEqualTo(some.stream().map(keysById::get).toList());
    }
  }

  private static void requireBackfilled(MigrationFixture desk, TableMigration run) {
    desk.set(run, _ -> ThrottleSettings.DEFAULT);
    assertThat(desk.await(run, RunState.DONE).progress().rowsDone()).isEqualTo(ROWS);
    desk.requireOrderedKeys();
    List<RunEvent> events = desk.migrations().journal().events(run.id(), 0);
    assertThat(events).noneMatch(event -> event.kind().equals("failed"));
    assertThat(desk.count("select fence from coatcheck_migration.checkpoint"))
        .as("runners, one after the other")
        .isGreaterThan(2);
    System.out.println(events.stream().map(event -> event.kind() + " " + event.detail()).toList());
  }
}
