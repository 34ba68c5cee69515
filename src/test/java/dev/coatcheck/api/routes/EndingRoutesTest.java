package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What callers see of revoked and merged public IDs. */
class EndingRoutesTest {
  private static final String UNKNOWN_ID = "ch_00000000000000000000002B";
  private static final String WAITING_FOR_THE_HEAD =
      """
      select count(*) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'
         and query like '%change_head%'
      """;

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static TestClient client;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    client.put(
        TestType.of("charge", "ch")
            .with(
                "redirect",
                Map.of("template", "https://shop.example/{id}", "max_age_seconds", 60)));
    client.put(TestType.of("plain", "pl"));
  }

  @Test
  void aRevokedIdIsGoneForCallersAndForLinks() {
    String id = minted("charge");
    assertThat(client.anonymous().get("/r/" + id).status()).isEqualTo(302);
    assertThat(client.anonymous().head("/r/" + id).status()).isEqualTo(302);

    Reply revoked = revoke(id, json("reason", "leaked"));

    assertThat(revoked.status()).isEqualTo(200);
    assertThat(revoked.text("/status")).isEqualTo("revoked");
    assertThat(revoked.text("/ended_reason")).isEqualTo("leaked");
    Reply gone = client.get("/v1/ids/" + id);
    assertProblem(gone, "410 public_id_revoked id");
    assertThat(gone.text("/ended_reason")).isEqualTo("leaked");
    assertThat(gone.text("/ended_at")).isEqualTo(revoked.text("/ended_at"));
    Reply link = client.anonymous().get("/r/" + id);
    assertThat(link.status()).isEqualTo(410);
    assertThat(link.header("Cache-Control")).isEqualTo("no-store");
    assertThat(link.body().has("ended_reason")).isFalse();
    assertThat(client.anonymous().head("/r/" + id).status()).isEqualTo(410);
  }

  /**
   * Its first ending is late: another session holds the row that all of them write. A busy machine
   * may be later than their deadlines, so there is more than one round.
   */
  @Test
  void aGatewayThatHasJustStartedEndsAllThatIsAskedForAtOnce() {
    Awaitility.await().until(() -> firstEndings(), statuses -> Set.of(200).equals(statuses));
  }

  private static Set<Integer> firstEndings() throws Exception {
    Reply minted = client.post("/v1/ids/batch", json("type", "plain", "count", 100));
    List<String> ids = minted.body().at("/data").findValuesAsString("id");
    try (GatewayFixture fresh = GatewayFixture.on(GATEWAY.database);
        TestSession watch = GATEWAY.sql().session();
        TestSession holder = GATEWAY.sql().begin("select from coatcheck.change_head for update");
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      TestClient impatient = fresh.client().once();
      List<Future<Integer>> revoking = new ArrayList<>();
      for (String id : ids) {
        String path = "/v1/ids/" + id + "/revoke";
        revoking.add(threads.submit(() -> impatient.post(path, "{}").status()));
      }
      Awaitility.await()
          .pollInterval(Duration.ofMillis(10))
          .until(
              () ->
                  watch.number(WAITING_FOR_THE_HEAD) == 2
                      || revoking.stream().allMatch(Future::isDone));
      holder.rollback();
      Set<Integer> statuses = new HashSet<>();
      for (Future<Integer> each : revoking) {
        statuses.add(each.get());
      }
      return statuses;
    }
  }

  @Test
  void revokedLinksAllLookTheSame() {
    String one = minted("charge");
    String other = minted("charge");
    String merged = minted("charge");
    merge(merged, other);
    revoke(one, json("reason", "leaked"));
    revoke(other, "{}");

    List<Map<String, Object>> bodies =
        List.of(one, other, merged).stream()
            .map(id -> client.anonymous().get("/r/" + id))
            .map(Reply::nameless)
            .toList();

    assertThat(bodies)
        .allMatch(bodies.getFirst()::equals)
        .first()
        .asString()
        .contains("status=410");
  }

  @Test
  void aMergedIdStandsForItsSurvivor() {
    String id = minted("charge");
    Reply survivor = client.mint("charge");

    Reply merged = merge(id, survivor.text("/id"));

    assertThat(merged.status()).isEqualTo(200);
    assertThat(merge(id, survivor.text("/id")).body()).isEqualTo(merged.body());
    Reply found = client.get("/v1/ids/" + id);
    assertThat(found.status()).isEqualTo(200);
    assertThat(found.body()).isEqualTo(merged.body());
    assertThat(found.text("/status")).isEqualTo("merged");
    assertThat(found.text("/id")).isEqualTo(id);
    assertThat(found.text("/merged_into")).isEqualTo(survivor.text("/id"));
    assertThat(found.text("/key")).isEqualTo(survivor.text("/key"));
    assertThat(client.anonymous().get("/r/" + id).header("Location"))
        .isEqualTo("https://shop.example/" + survivor.text("/id"));
    assertProblem(revoke(id, "{}"), "409 id_ended id");
    assertProblem(merge(id, minted("charge")), "409 id_ended id");
  }

  @Test
  void mergesThatMakeNoSenseAreRefused() {
    String id = minted("charge");
    String other = minted("charge");
    merge(other, id);

    String gone = minted("charge");
    revoke(gone, "{}");

    assertProblem(merge(id, gone), "409 id_ended into");
    assertProblem(merge(id, id), "409 merge_refused into");
    assertProblem(merge(id, other), "409 merge_refused into");
    assertProblem(merge(id, minted("plain")), "409 merge_refused into");
    assertProblem(merge(id, UNKNOWN_ID), "404 public_id_unknown into");
    assertProblem(merge(UNKNOWN_ID, id), "404 public_id_unknown id");
    assertProblem(revoke(UNKNOWN_ID, "{}"), "404 public_id_unknown id");
    assertProblem(
        client.hostile().post("/v1/ids/" + id + "/merge", json("into", "ch_x")),
        "400 public_id_malformed into");
    assertProblem(
        client.hostile().post("/v1/ids/" + id + "/revoke", json("reason", "")),
        "400 field_invalid reason");
    assertProblem(
        client.hostile().post("/v1/ids/" + id + "/revoke", json("reason", "x".repeat(501))),
        "400 field_invalid reason");
  }

  @Test
  void endedIdsAreListedAndResolvedInBatches() {
    client.put(TestType.of("item", "it"));
    List<String> ids = IntStream.range(0, 4).mapToObj(_ -> minted("item")).toList();
    revoke(ids.get(1), json("reason", "gone"));
    merge(ids.get(2), ids.get(3));

    Reply resolved = client.post("/v1/ids/resolve", json("ids", ids));
    Reply page = client.get("/v1/ids?type=item&limit=2&starting_after=" + ids.get(2));

    assertThat(IntStream.range(0, 4).map(i -> status(resolved, i)))
        .containsExactly(200, 410, 200, 200);
    assertThat(resolved.text("/data/1/error/ended_reason")).isEqualTo("gone");
    assertThat(resolved.text("/data/2/public_id/merged_into")).isEqualTo(ids.get(3));
    assertThat(page.body().at("/data").findValuesAsString("status"))
        .containsExactly("revoked", "active");
  }

  @Test
  void aBatchEndsEachItemInItsPlace() {
    String one = minted("charge");
    String two = minted("charge");

    Reply revoked =
        client.post(
            "/v1/ids/revoke",
            json(
                "items",
                List.of(
                    Map.of("id", one, "reason", "a"),
                    Map.of("id", UNKNOWN_ID),
                    Map.of("id", "ch_x"),
                    Map.of("id", two, "reason", ""),
                    Map.of("id", one))));

    assertThat(IntStream.range(0, 5).map(i -> status(revoked, i)))
        .containsExactly(200, 404, 400, 400, 200);
    assertThat(revoked.text("/data/1/error/param")).isEqualTo("items[1].id");
    assertThat(revoked.text("/data/2/error/param")).isEqualTo("items[2].id");
    assertThat(revoked.text("/data/3/error/param")).isEqualTo("items[3].reason");
    assertThat(revoked.text("/data/4/public_id/ended_reason")).isEqualTo("a");
    assertThat(client.get("/v1/ids/" + two).status()).isEqualTo(200);
  }

  @Test
  void aBatchOfMergesGoesInOrderAndEndsFlat() {
    List<String> ids = IntStream.range(0, 4).mapToObj(_ -> minted("charge")).toList();

    Reply merged =
        client.post(
            "/v1/ids/merge",
            json(
                "items",
                List.of(
                    pair(ids.get(0), ids.get(1)),
                    pair(ids.get(1), ids.get(2)),
                    pair(ids.get(2), ids.get(0)),
                    pair(ids.get(3), ids.get(0)))));

    assertThat(IntStream.range(0, 4).map(i -> status(merged, i)))
        .containsExactly(200, 200, 409, 200);
    for (int i : new int[] {0, 1, 3}) {
      assertThat(client.get("/v1/ids/" + ids.get(i)).text("/merged_into")).isEqualTo(ids.get(2));
    }
  }

  @Test
  void anAtomicBatchWithABadItemEndsNothing() {
    String id = minted("charge");

    Reply unknown =
        client.post(
            "/v1/ids/revoke",
            json("atomic", true, "items", List.of(Map.of("id", id), Map.of("id", UNKNOWN_ID))));
    Reply malformed =
        client.post(
            "/v1/ids/revoke",
            json(
                "atomic",
                true,
                "items",
                List.of(Map.of("id", id), Map.of("id", UNKNOWN_ID), Map.of("id", "x"))));
    Reply circle =
        client.post("/v1/ids/merge", json("atomic", true, "items", List.of(pair(id, id))));

    assertThat(List.of(unknown.status(), malformed.status(), circle.status())).containsOnly(422);
    assertThat(unknown.body().at("/errors").findValuesAsString("index")).containsExactly("1");
    assertThat(malformed.body().at("/errors").findValuesAsString("index"))
        .containsExactly("1", "2");
    assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(200);
    assertThat(
            client
                .post("/v1/ids/revoke", json("atomic", true, "items", List.of(Map.of("id", id))))
                .status())
        .isEqualTo(200);
    assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(410);
  }

  /** Another transaction has locked the row: only callers of that ID are told to come back. */
  @Test
  void anIdThatAnotherTransactionHoldsIs409AndHoldsUpNoOtherEnding() throws Exception {
    String held = minted("charge");
    String free = minted("charge");
    String revocations = json("items", List.of(Map.of("id", held), Map.of("id", free)));
    String merges = json("items", List.of(pair(held, free), pair(minted("charge"), free)));
    try (TestSession other = GATEWAY.sql().session();
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      other.begin(
          "select from coatcheck.public_id where key = %s for update"
              .formatted(client.get("/v1/ids/" + held).text("/key")));

      List<Future<Reply>> refused =
          Stream.<Function<TestClient, Reply>>of(
                  once -> revoke(once, held, "{}"),
                  once -> merge(once, free, held),
                  once -> once.post("/v1/ids/revoke", revocations),
                  once -> once.post("/v1/ids/merge", merges))
              .map(call -> callers.submit(() -> client.refused("busy", call)))
              .toList();
      assertThat(revoke(minted("charge"), "{}").status()).isEqualTo(200);

      for (Future<Reply> each : refused) {
        assertProblem(each.get(), "409 busy");
        assertThat(each.get().header("retry-after")).isEqualTo("1");
      }
      assertThat(client.get("/v1/ids/" + free).text("/status")).isEqualTo("active");
      other.rollback();
    }
    assertThat(merge(free, held).status()).isEqualTo(200);
    assertThat(revoke(held, "{}").status()).isEqualTo(200);
  }

  /** The head of the change feed is held for long, as by an operator's forgotten transaction. */
  @Test
  void aHeldChangeFeedIsOverloadedAndNothingIsDone() {
    String id = minted("charge");
    try (TestSession other = GATEWAY.sql().session()) {
      other.begin("select from coatcheck.change_head for update");

      assertProblem(client.refused("overloaded", once -> revoke(once, id, "{}")), "503 overloaded");
      assertThat(client.get("/v1/ids/" + id).text("/status")).isEqualTo("active");
      other.rollback();
    }
    assertThat(client.get("/v1/ids/" + id).text("/status")).isEqualTo("active");
    assertThat(revoke(id, "{}").status()).isEqualTo(200);
  }

  @Test
  void aRevocationNeedsNoBody() {
    String id = minted("charge");

    assertThat(client.send("POST", "/v1/ids/" + id + "/revoke", null).status()).isEqualTo(200);
    assertThat(client.get("/v1/ids/" + id).status()).isEqualTo(410);
    assertProblem(
        client.hostile().with("Content-Type", "text/plain").post("/v1/ids/" + id + "/revoke", "x"),
        "415 unsupported_media_type");
  }

  private static String minted(String type) {
    return client.mint(type).text("/id");
  }

  private static Reply revoke(String id, String body) {
    return revoke(client, id, body);
  }

  private static Reply revoke(TestClient client, String id, String body) {
    return client.post("/v1/ids/" + id + "/revoke", body);
  }

  private static Reply merge(String id, String into) {
    return merge(client, id, into);
  }

  private static Reply merge(TestClient client, String id, String into) {
    return client.post("/v1/ids/" + id + "/merge", json("into", into));
  }

  private static Map<String, String> pair(String id, String into) {
    return Map.of("id", id, "into", into);
  }

  private static int status(Reply reply, int index) {
    return reply.body().at("/data/" + index + "/status").intValue();
  }
}
