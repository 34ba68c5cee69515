package dev.coatcheck.api.routes.migrations;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What people ask of table migrations under an Idempotency-Key is done once. */
class IdempotentRunTest {
  private static final String RUNS = "/v1/table-migrations";
  private static final int RACERS = 20;
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.own();
  private static final TestClient API = GATEWAY.client();
  private static final Runs CALLS = Runs.of(GATEWAY);

  /** Racers, and one who comes when it was resumed. */
  @Test
  void whoPausesWithOneKeyPausesOnce() throws Exception {
    // Ten rows a second, so that the run goes on for as long as the test needs.
    String run = planned("raced");
    API.send("PATCH", run, json("rows_per_second_max", 10));
    assertThat(CALLS.start(run).status()).isEqualTo(202);
    TestClient keyed = keyed("race-1");
    List<Future<Reply>> racers = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int racer = 0; racer < RACERS; racer++) {
        racers.add(threads.submit(() -> keyed.send("POST", run + "/pause", null)));
      }
    }

    List<Reply> replies = new ArrayList<>();
    for (Future<Reply> racer : racers) {
      replies.add(racer.get());
    }
    assertThat(replies).extracting(Reply::status).containsOnly(200);
    assertThat(new HashSet<>(replies.stream().map(Reply::body).toList())).hasSize(1);
    assertThat(replies.stream().filter(reply -> !reply.has("idempotent-replayed"))).hasSize(1);
    assertThat(API.send("POST", run + "/resume", null).text("/state")).isEqualTo("running");
    assertReplayed(keyed.send("POST", run + "/pause", null), replies.getFirst());
    assertThat(API.get(run).text("/state")).isEqualTo("running");
    assertThat(events(run, "pause")).isEqualTo(1);
    API.send("POST", run + "/cancel", null);
  }

  @Test
  void aRepeatedPlanMakesOneRunAlsoWhenThatIsOnTheTable() {
    CALLS.table("planned_once", 3_000);
    String body = json("table", "planned_once", "type", "planned_once");
    TestClient keyed = keyed("plan-1");

    Reply first = keyed.post(RUNS, body);
    String run = RUNS + "/" + first.text("/id");
    assertThat(CALLS.start(run).status()).isEqualTo(202);
    Reply again = keyed.post(RUNS, body);

    assertThat(first.status()).isEqualTo(201);
    assertThat(first.body()).isNotEqualTo(API.get(run).body());
    assertReplayed(again, first);
    assertThat(runs("planned_once")).isEqualTo(1);
    assertThat(events(run, "plan")).isEqualTo(1);
  }

  /** What is kept are also the refusals, of which some are found before the run is locked. */
  @Test
  void aRefusalIsKeptAlsoWhenItsReasonIsGone() {
    String run = planned("refused");
    GATEWAY.execute("insert into public.refused (id) values (-1)");
    Reply noStart = keyed("start-1").post(run + "/start", CALLS.accept(run));
    String body = json("table", "refused", "type", "refused");
    Reply noPlan = keyed("plan-2").post(RUNS, body);
    Reply notNow = keyed("pause-2").send("POST", run + "/pause", null);
    GATEWAY.execute("delete from public.refused where id = -1");

    assertProblem(noStart, "422 table_migration_refused");
    assertProblem(noPlan, "422 table_migration_refused");
    assertProblem(notNow, "409 table_migration_state");
    assertReplayed(keyed("start-1").post(run + "/start", CALLS.accept(run)), noStart);
    assertReplayed(keyed("plan-2").post(RUNS, body), noPlan);
    assertThat(CALLS.start(run).status()).isEqualTo(202);
    assertReplayed(keyed("pause-2").send("POST", run + "/pause", null), notNow);
    assertThat(events(run, "pause")).isZero();
  }

  /**
   * The second start meets the unique index of the first: it is rolled back, its answer is kept.
   */
  @Test
  void aStartThatAnotherRunOfTheTableRefusesIsKept() {
    String first = planned("twice");
    String second = Runs.path(CALLS.plan("twice"));
    GATEWAY.execute(
        "update coatcheck.table_migration set state = 'paused', occupies = true where migration_id"
            + " = "
            + first.substring(RUNS.length() + 1));

    Reply refused = keyed("start-2").post(second + "/start", CALLS.accept(second));
    GATEWAY.execute(
        "update coatcheck.table_migration set occupies = false where migration_id = "
            + first.substring(RUNS.length() + 1));

    assertProblem(refused, "422 table_migration_refused");
    assertThat(refused.text("/refusals/0/code")).isEqualTo("migration_active");
    assertReplayed(keyed("start-2").post(second + "/start", CALLS.accept(second)), refused);
  }

  @Test
  void whatMayChangeIsNotKept() {
    TestClient keyed = keyed("unknown-1");

    assertProblem(keyed.send("POST", RUNS + "/999/pause", null), "404 table_migration_unknown id");
    assertThat(keyed.send("POST", RUNS + "/999/pause", null).has("idempotent-replayed")).isFalse();
  }

  private record Verb(String method, String path, @Nullable String body) {
    Reply send(TestClient client) {
      return client.send(method, RUNS + path, body);
    }
  }

  private static List<Verb> verbs() {
    List<Verb> verbs = new ArrayList<>();
    verbs.add(new Verb("POST", "", json("table", "other", "type", "charge")));
    verbs.add(new Verb("PATCH", "/7", json("batch_millis", 100)));
    for (String name : List.of("pause", "resume", "retry", "cancel", "verify", "forget")) {
      verbs.add(new Verb("POST", "/7/" + name, null));
    }
    for (String name : List.of("start", "switch", "undo")) {
      verbs.add(new Verb("POST", "/7/" + name, "{}"));
    }
    return verbs;
  }

  @Test
  void aKeyOfAnotherRequestIs422AndAHeldKeyIs409() throws Exception {
    API.put(TestType.of("charge", "ch"));
    keyed("used").mint("charge");
    for (Verb verb : verbs()) {
      assertProblem(verb.send(keyed("used")), "422 idempotency_key_reused Idempotency-Key");
    }
    try (TestSession other =
            GATEWAY
                .sql()
                .begin(
                    "select pg_advisory_xact_lock(%d)"
                        .formatted(new IdempotencyKey("test", "held").lock()));
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Reply>> held =
          verbs().stream()
              .map(verb -> threads.submit(() -> keyed("held").refused("busy", verb::send)))
              .toList();
      for (Future<Reply> busy : held) {
        assertProblem(busy.get(), "409 busy");
        assertThat(busy.get().has("retry-after")).isTrue();
      }
      other.rollback();
    }
  }

  private static TestClient keyed(String key) {
    return API.with("Idempotency-Key", key);
  }

  private static void assertReplayed(Reply again, Reply first) {
    assertThat(again.status()).isEqualTo(first.status());
    assertThat(again.body()).isEqualTo(first.body());
    assertThat(again.headers()).containsEntry("idempotent-replayed", List.of("true"));
  }

  private static String planned(String name) {
    CALLS.table(name, 3_000);
    return Runs.path(CALLS.plan(name));
  }

  private static long runs(String table) {
    return GATEWAY.count(
        "select count(*) from coatcheck.table_migration where table_name = '" + table + "'");
  }

  private static long events(String run, String kind) {
    return GATEWAY.count(
        "select count(*) from coatcheck.table_migration_event where kind = '%s' and migration_id = %s"
            .formatted(kind, run.substring(RUNS.length() + 1)));
  }
}
