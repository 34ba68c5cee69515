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
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.ids.registry.Type;
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
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three gateways on one Postgres behind nginx, replaced one after the other, and one killed. */
@Tag("faults")
@Tag("alone")
class RollingRestartTest {
  private static final int INSTANCES = 3;
  private static final int PER_SECOND = Integer.getInteger("rate", 1_000);
  private static final Duration LATE_MAX = Duration.ofMillis(100);
  private static final int TRIES_MAX = 3;
  private static final int ROWS = 5_000;
  private static final int ITEMS_MAX = 1_000;
  private static final int WARM_UP_SECONDS = 2;
  private static final Duration SPREAD_MAX = Duration.ofSeconds(2);

  /** So that the backfill lasts until the last instance has been replaced. */
  private static final ThrottleSettings SLOWLY =
      new ThrottleSettings(100, 40, 0, 10, 0, 5, 600, 0, 0, true);

  private static final List<GatewayChild> GATEWAYS = new ArrayList<>();

  @TempDir static Path folder;

  private static MigrationFixture desk;
  private static InstancesNginx nginx;
  private static String apiKey;
  private static Reply first;

  @BeforeAll
  static void start() throws Exception {
    assumeTrue(InstancesNginx.isInstalled(), "nginx is not installed");
    desk = MigrationFixture.desk();
    apiKey = GatewayFixture.keyOn(desk.gateway.on);
    startAll(desk.gateway.on);
    at(0).put(TestType.of("charge", "ch"));
    first = warmUp();
    nginx = new InstancesNginx(folder, GATEWAYS.stream().map(GatewayChild::port).toList());
  }

  @AfterAll
  static void end() {
    if (desk != null) {
      GATEWAYS.forEach(GatewayChild::kill);
      nginx.close();
      desk.close();
    }
  }

  @Test
  void aRollingRestartFailsNoRequest() throws Exception {
    TableMigration run = startBackfill("replaced");
    try (MachineDelay machine = MachineDelay.measure();
        SteadyLoad load = load()) {
      for (int i = 0; i < INSTANCES; i++) {
        replace(i);
        requireAgreement(i, machine);
      }
      load.stop();
      requireSound(load, machine);
      assertThat(load.failures()).as("%s", load).isEmpty();
      requireAllThere(at(0), load);
    }
    requireBackfilled("replaced", run);
  }

  @Test
  void aKilledInstanceFailsOnlyWhatWasUnderWayInIt() throws Exception {
    TableMigration run = startBackfill("killed");
    try (MachineDelay machine = MachineDelay.measure();
        SteadyLoad load = load()) {
      long pid = runner(run);
      int killed =
          IntStream.range(0, INSTANCES)
              .filter(i -> GATEWAYS.get(i).pid() == pid)
              .findFirst()
              .orElseThrow();
      long rowsDone = desk.now(run).progress().rowsDone();
      int underWay = load.underWay();
      long beforeNano = System.nanoTime();
      GATEWAYS.get(killed).kill();
      long goneNano = System.nanoTime();

      await().until(() -> runner(run) != pid && desk.now(run).progress().rowsDone() > rowsDone);
      load.stop();
      GATEWAYS.set(killed, GatewayChild.serve(desk.gateway.on, GATEWAYS.get(killed).port()));
      System.out.println("RollingRestartTest: killed with about " + underWay + " under way");
      requireSound(load, machine);
      assertThat(load.failures())
          .as("%s", load)
          .allMatch(failed -> failed.sentNano() < goneNano && failed.endedNano() > beforeNano);
      requireAllThere(at(other(killed)), load);
    }
    requireBackfilled("killed", run);
  }

  /**
   * At half the rate that this machine can keep, up to {@link #PER_SECOND}: an instance that starts
   * takes the rest. The rate rises slowly, so that cold gateways are not overrun.
   */
  private static SteadyLoad load() {
    int rate = PER_SECOND / 8;
    int tries = 0;
    while (rate < 2 * PER_SECOND) {
      int next = Math.min(2 * rate, 2 * PER_SECOND);
      if (isKept(next)) {
        rate = next;
        tries = 0;
      } else if (++tries == TRIES_MAX) {
        break;
      }
    }
    while (true) {
      SteadyLoad load = load(rate / 2);
      if (load.failures().isEmpty()) {
        return load;
      }
      load.stop(); // nginx still left out instances that had been asked for too much
    }
  }

  private static boolean isKept(int rate) {
    try (SteadyLoad load = load(rate)) {
      return load.answerP99().compareTo(LATE_MAX) <= 0
          && load.underWay() <= rate * LATE_MAX.toMillis() / 1_000;
    }
  }

  private static SteadyLoad load(int rate) {
    SteadyLoad load =
        new SteadyLoad(nginx.port(), apiKey, rate, first.text("/id"), first.text("/key"));
    await().until(() -> load.sent() >= WARM_UP_SECONDS * rate);
    System.out.println("RollingRestartTest: " + rate + " requests a second: " + load);
    return load;
  }

  /** So slow that it is under way until its rate is lifted. */
  private static TableMigration startBackfill(String table) {
    Type type = desk.gateway.type(table, table, KeyKind.BIGINT);
    desk.execute(
        "create table %s (id bigserial primary key)".formatted(table),
        "insert into %s select from generate_series(1, %d)".formatted(table, ROWS));
    TableMigration run = desk.plan(table, type, Optional.empty());
    desk.set(run, _ -> SLOWLY);
    desk.start(run);
    await().until(() -> desk.now(run).progress().rowsDone() > 0);
    return run;
  }

  private static void startAll(TestDatabase database) throws Exception {
    try (ExecutorService starts = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<GatewayChild>> started =
          Stream.generate(() -> starts.submit(() -> GatewayChild.serve(database, FreePort.next())))
              .limit(INSTANCES)
              .toList();
      for (Future<GatewayChild> one : started) {
        GATEWAYS.add(one.get());
      }
    }
  }

  /** Three that begin at the same time on two cores are slower than one that is replaced. */
  private static Reply warmUp() {
    for (int i = 0; i < 20 * INSTANCES; i++) {
      warmUp(i % INSTANCES);
    }
    return at(0).mint("charge");
  }

  private static void warmUp(int instance) {
    Reply minted = at(instance).mint("charge");
    at(instance).get("/v1/ids/" + minted.text("/id"));
    at(instance).get("/v1/types/charge/keys/" + minted.text("/key"));
  }

  private static TestClient at(int instance) {
    return new TestClient(GATEWAYS.get(instance).uri(), apiKey);
  }

  private static int other(int instance) {
    return (instance + 1) % INSTANCES;
  }

  private static void replace(int instance) throws Exception {
    GatewayChild old = GATEWAYS.get(instance);
    nginx.takeOut(old.port());
    assertThat(old.terminate()).isEqualTo(128 + 15);
    GATEWAYS.set(instance, GatewayChild.serve(desk.gateway.on, old.port()));
    await().until(() -> at(instance).once().get("/health/ready").status() == 200);
    for (int i = 0; i < 5; i++) {
      warmUp(instance);
    }
    nginx.putBack(old.port());
  }

  /** Skips the test if requests failed where the machine could not send them when they were due. */
  private static void requireSound(SteadyLoad load, MachineDelay machine) {
    System.out.println("RollingRestartTest: " + load);
    if (!load.failures().isEmpty()) {
      MachineDelay.requireTimely(load.latenessP99());
      machine.requireTimely();
    }
  }

  /** What one instance does, the others know. */
  private static void requireAgreement(int round, MachineDelay machine) throws Exception {
    TestClient here = at(round);
    TestClient there = at(other(round));
    TestClient third = at(other(other(round)));

    TestClient.assertPut(here.put(TestType.of("round" + round, "r" + round)));
    assertThat(there.mint("round" + round).status()).isEqualTo(201);

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
    assertThat(here.post("/v1/ids/" + id + "/revoke", "{}").status()).isEqualTo(200);
    long revokedNano = System.nanoTime();
    for (TestClient client : others) {
      AtomicLong lastAliveNano = new AtomicLong(revokedNano);
      await()
          .until(
              () -> {
                long askedNano = System.nanoTime();
                int status = client.once().get("/v1/ids/" + id).status();
                if (status == 200) {
                  lastAliveNano.set(askedNano);
                }
                return status == 410;
              });
      machine.requireWithin(SPREAD_MAX, Duration.ofNanos(lastAliveNano.get() - revokedNano));
    }
  }

  /** The process that has the run. */
  private static long runner(TableMigration run) {
    return desk.count(
        "select substring(holder from '[0-9]+$') from coatcheck.table_migration where migration_id"
            + " = "
            + run.id());
  }

  /** Acknowledged mints are there, once; those that failed are done once by sending them again. */
  private static void requireAllThere(TestClient api, SteadyLoad load) {
    Map<String, String> keysById = new HashMap<>(load.keysById());
    for (String idempotencyKey : load.unsettled()) {
      Reply settled = api.with("Idempotency-Key", idempotencyKey).mint("charge");
      assertThat(settled.status()).isEqualTo(201);
      assertThat(keysById.put(settled.text("/id"), settled.text("/key"))).isNull();
    }
    assertThat(keysById.values()).doesNotHaveDuplicates().isNotEmpty();
    List<String> ids = List.copyOf(keysById.keySet());
    for (int from = 0; from < ids.size(); from += ITEMS_MAX) {
      List<String> some = ids.subList(from, Math.min(from + ITEMS_MAX, ids.size()));
      Reply resolved = api.post("/v1/ids/resolve", json("ids", some));
      assertThat(
              resolved
                  .body()
                  .path("data")
                  .valueStream()
                  .map(item -> item.at("/public_id/key").asString("")))
          .isEqualTo(some.stream().map(keysById::get).toList());
    }
  }

  /** Each row has its key, its public ID and its legacy ID, and more than one runner was at it. */
  private static void requireBackfilled(String table, TableMigration run) {
    desk.set(run, _ -> ThrottleSettings.DEFAULT);
    assertThat(desk.await(run, RunState.DONE).progress().rowsDone()).isEqualTo(ROWS);
    assertThat(
            desk.count(
                """
                select count(distinct p.token) from %1$s o
                  join coatcheck.alias a on a.scheme = 'legacy' and a.value = o.id::text
                  join coatcheck.public_id p on p.token = a.token and p.key = o.snowflake_id
                  join coatcheck.type t on t.type_id = p.type_id and t.name = '%1$s'
                """
                    .formatted(table)))
        .isEqualTo(ROWS);
    List<RunEvent> events = desk.migrations().journal().events(run.id(), 0);
    assertThat(events).noneMatch(event -> event.kind().equals("failed"));
    assertThat(
            desk.count(
                "select fence from coatcheck.table_migration where migration_id = " + run.id()))
        .as("runners")
        .isGreaterThan(1);
  }
}
