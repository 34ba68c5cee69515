package dev.coatcheck.api.routes.migrations;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.api.routes.EventListener;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.json.JsonMapper;

/** What happens to a run, as it happens, on real connections. */
@Timeout(300)
class TableMigrationEventsTest {
  private static final String RUNS = "/v1/table-migrations";
  private static final String STREAM = "text/event-stream";
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.own();
  private static final TestClient API = GATEWAY.client();

  /** Planned, and then left alone. */
  private static String quiet = "";

  @BeforeAll
  static void table() {
    quiet = plan(GATEWAY, "quiet", 1);
  }

  private static EventListener listener(GatewayFixture gateway, String run) throws Exception {
    return new EventListener(gateway.uri().resolve(run + "/events"), gateway.key(), null);
  }

  @Test
  void nothingIsLostOrToldTwiceAcrossAReconnect() throws Exception {
    String run = plan(GATEWAY, "orders", 3_000);
    API.send("PATCH", run, json("rows_per_second_max", 10));
    List<String> heard = new ArrayList<>();
    String last;
    try (EventListener listener = listener(GATEWAY, run)) {
      assertThat(listener.response.statusCode()).isEqualTo(200);
      assertThat(listener.response.headers().map())
          .containsEntry("content-type", List.of(STREAM))
          .containsEntry("cache-control", List.of("no-store"))
          .containsKey("request-id");
      assertThat(Runs.of(GATEWAY).start(run).status()).isEqualTo(202);
      last = listener.upTo("step_applied");
      heard.addAll(listener.events);
    }
    API.send("POST", run + "/pause", null);
    API.send("PATCH", run, json("rows_per_second_max", 0));
    API.send("POST", run + "/resume", null);

    try (EventListener listener =
        new EventListener(GATEWAY.uri().resolve(run + "/events"), GATEWAY.key(), last)) {
      listener.upTo("done");
      heard.addAll(listener.events);
      EventListener.Message after = listener.more();
      assertThat(String.valueOf(after.data())).contains("\"state\":\"done\"");
    }

    List<String> listed =
        API.get(run + "/events").body().at("/data").valueStream().map(Object::toString).toList();
    assertThat(heard.stream().map(data -> new JsonMapper().readTree(data).toString()))
        .containsExactlyElementsOf(listed);
    assertThat(API.get(run + "/events").body().at("/data").findValuesAsString("kind"))
        .startsWith("plan", "set", "start")
        .contains("pause", "resume", "step_started", "step_applied")
        .endsWith("done");
  }

  @Test
  void progressComesWhileItRunsAndAHeartbeatAlways() throws Exception {
    String run = plan(GATEWAY, "moving", 3_000);
    API.send("PATCH", run, json("rows_per_second_max", 10));
    assertThat(Runs.of(GATEWAY).start(run).status()).isEqualTo(202);
    List<EventListener.Message> progress = new ArrayList<>();
    try (EventListener listener = listener(GATEWAY, run)) {
      boolean beat = false;
      // The first empty message is the word on when to come back.
      listener.next();
      while (!beat || progress.size() < 2) {
        EventListener.Message next = listener.more();
        beat |= next.isHeartbeat();
        if ("progress".equals(next.kind())) {
          progress.add(next);
        }
      }
    }
    assertThat(progress).allMatch(message -> message.id() == null);
    assertThat(String.valueOf(progress.getLast().data()))
        .contains("\"state\":\"running\"", "\"rows_total\":3000", "10 rows a second");
    API.send("POST", run + "/cancel", null);
  }

  /** Else a proxy between would close the stream of a client that waits. */
  @Test
  @Tag("faults")
  void heartbeatsComeInAnOutageToo() throws Exception {
    TestDatabase database = TestDatabase.fresh();
    try (FaultProxy proxy = new FaultProxy(database.port());
        GatewayFixture gateway =
            GatewayFixture.on(
                database, "COATCHECK_DATABASE_URL", database.behind(proxy.port()).url())) {
      String run = plan(gateway, "unheard", 1);
      try (EventListener listener = listener(gateway, run)) {
        listener.upTo("plan");
        proxy.freeze(true);
        for (int beats = 0; beats < 2; beats++) {
          long since = System.nanoTime();
          while (!listener.more().isHeartbeat()) {
            // what was under way
          }
          assertThat(Duration.ofNanos(System.nanoTime() - since)).isLessThan(Duration.ofSeconds(8));
        }
      } finally {
        proxy.freeze(false);
      }
    }
  }

  private static void assertTurnedAway(TestClient api, String run) {
    Reply refused =
        api.with("Accept", STREAM).refused("overloaded", once -> once.get(run + "/events"));
    assertProblem(refused, "503 overloaded");
    assertThat(refused.has("Retry-After")).isTrue();
  }

  @Test
  @Tag("faults")
  @SuppressWarnings("try") // the close is what is tested
  void sixteenOfAKeyAndThirtyTwoInAllListenUntilOneLeavesAndAStopWaitsForNone() throws Exception {
    // Its own, because a gateway hears late of listeners that left.
    try (GatewayFixture gateway = GatewayFixture.own()) {
      String run = plan(gateway, "many", 1);
      TestClient api = gateway.client();
      List<EventListener> listeners = new ArrayList<>();
      String other = gateway.keyWith(Scope.ALL);
      String third = gateway.keyWith(Scope.ALL);
      for (String key : List.of(gateway.key(), other)) {
        for (int i = 0; i < 16; i++) {
          listeners.add(new EventListener(gateway.uri().resolve(run + "/events"), key, null));
        }
        assertTurnedAway(new TestClient(gateway.uri(), key), run);
      }
      assertTurnedAway(new TestClient(gateway.uri(), third), run);
      // They hold no connections: there are ten.
      assertThat(api.get(RUNS).status()).isEqualTo(200);

      for (EventListener listener : listeners) {
        listener.close();
      }

      EventListener listener =
          Awaitility.await().until(() -> accepted(gateway, run), Optional::isPresent).orElseThrow();
      try (MachineDelay delay = MachineDelay.measure();
          listener) {
        listener.upTo("plan");
        long from = System.nanoTime();
        gateway.close();
        delay.requireWithin(Duration.ofSeconds(7), Duration.ofNanos(System.nanoTime() - from));
        for (EventListener.Message next = listener.next(); next != null; next = listener.next()) {
          assertThat(next.id()).isNull();
        }
      }
    }
  }

  /** Empty if the gateway has no place for it yet: it learns late who has left. */
  private static Optional<EventListener> accepted(GatewayFixture gateway, String run)
      throws Exception {
    EventListener listener = listener(gateway, run);
    if (listener.response.statusCode() == 200) {
      return Optional.of(listener);
    }
    listener.close();
    return Optional.empty();
  }

  @Test
  void whoseKeyIsRevokedHearsNoMore() throws Exception {
    String key = GATEWAY.keyWith(Scope.TABLE_MIGRATIONS_READ);
    try (EventListener listener =
        new EventListener(GATEWAY.uri().resolve(quiet + "/events"), key, null)) {
      listener.upTo("plan");
      GATEWAY.revokeKey(key);
      while (listener.next() != null) {
        // what was under way
      }
    }
    assertThat(new TestClient(GATEWAY.uri(), key).get(quiet + "/events").status()).isEqualTo(401);
  }

  @Test
  void whoseKeyLosesTheTypeHearsNoMore() throws Exception {
    String type = API.get(quiet).text("/type");
    API.put(TestType.of("spare", "spare"));
    Reply made =
        API.post(
            "/v1/access/keys",
            json(
                "name", "watcher",
                "scopes", List.of("table_migrations:read"),
                "types", List.of(type)));
    try (EventListener listener =
        new EventListener(GATEWAY.uri().resolve(quiet + "/events"), made.text("/secret"), null)) {
      listener.upTo("plan");
      API.send("PATCH", "/v1/access/keys/" + made.text("/id"), json("types", List.of("spare")));
      while (listener.next() != null) {
        // what was under way
      }
    }
    TestClient watcher = new TestClient(GATEWAY.uri(), made.text("/secret"));
    assertProblem(watcher.get(quiet + "/events"), "403 type_not_allowed");
  }

  @Test
  void theListGoesOnAfterAnEvent() {
    String run = plan(GATEWAY, "listed", 1);
    API.send("PATCH", run, json("lock_waits_max", 1));

    assertThat(API.get(run + "/events?after=0").body().at("/data")).hasSize(2);
    Reply second = API.get(run + "/events?after=1");
    assertThat(second.text("/data/0/kind")).isEqualTo("set");
    assertThat(second.text("/data/0/detail")).isEqualTo("lock_waits_max 5 to 1");
    assertThat(second.text("/data/0/actor")).isEqualTo("test");
    assertThat(second.body().at("/has_more").booleanValue()).isFalse();
    assertThat(API.with("Last-Event-ID", "2").get(run + "/events?after=0").body().at("/data"))
        .isEmpty();
    GATEWAY.execute(
        """
        insert into coatcheck.table_migration_event (migration_id, number, actor, kind, detail)
        select migration_id, n, 'test', 'set', '' from coatcheck.table_migration, generate_series(3, 1003) n
         where table_name = 'listed'\
        """);
    assertThat(API.get(run + "/events").body().at("/has_more").booleanValue()).isTrue();
    assertThat(API.get(run + "/events?after=1000").body().at("/data")).hasSize(3);
  }

  @Test
  void afterARestoreOfAnOlderBackupTheEventsBeginWithTheFirst() throws Exception {
    String run = plan(GATEWAY, "restored", 1);
    try (EventListener listener =
        new EventListener(GATEWAY.uri().resolve(run + "/events"), GATEWAY.key(), "57")) {
      assertThat(listener.upTo("plan")).isEqualTo("1");
      API.send("PATCH", run, json("lock_waits_max", 1));
      API.send("PATCH", run, json("lock_waits_max", 2));
      listener.upTo("set");
      assertThat(listener.upTo("set")).isEqualTo("3");

      // As a restore does, while the stream waits.
      GATEWAY.execute(
          """
          delete from coatcheck.table_migration_event e using coatcheck.table_migration r
           where e.migration_id = r.migration_id and r.table_name = 'restored' and e.number > 1\
          """);

      assertThat(listener.upTo("plan")).isEqualTo("1");
    }
    assertThat(API.get(run + "/events?after=2").text("/data/0/kind")).isEqualTo("plan");
    assertThat(API.get(run + "/events?after=1").body().at("/data")).isEmpty();
  }

  @Test
  void aClientThatTakesJsonTooGetsTheList() {
    Reply list = API.with("Accept", "application/json, " + STREAM).get(quiet + "/events");

    assertThat(list.text("/data/0/kind")).isEqualTo("plan");
  }

  @Test
  void whatIsNoEventIsSaid() {
    TestClient hostile = API.hostile();
    for (String odd : List.of("-1", "x", "", "01", "9999999999999999999")) {
      assertProblem(hostile.get(quiet + "/events?after=" + odd), "400 parameter_invalid after");
    }
    assertProblem(
        hostile.with("Last-Event-ID", "x").get(quiet + "/events"),
        "400 header_invalid Last-Event-ID");
    for (Map.Entry<String, String> unknown : Map.of("999", STREAM, "998", "*/*").entrySet()) {
      assertProblem(
          API.with("Accept", unknown.getValue()).get(RUNS + "/" + unknown.getKey() + "/events"),
          "404 table_migration_unknown id");
    }
  }

  private static String plan(GatewayFixture gateway, String name, int rows) {
    Runs runs = Runs.of(gateway);
    runs.table(name, rows);
    return Runs.path(runs.plan(name));
  }
}
