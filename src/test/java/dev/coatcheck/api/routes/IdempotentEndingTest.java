package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which operations keep answers under an Idempotency-Key, and what they answer again. */
class IdempotentEndingTest {
  private static final int RACERS = 20;
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();

  @BeforeAll
  static void start() {
    CLIENT.put(TestType.of("charge", "ch"));
  }

  @Test
  void aRevocationWithTheSameKeyAndBodyGetsTheSameAnswer() {
    String path = "/v1/ids/" + mint() + "/revoke";
    TestClient keyed = CLIENT.with("Idempotency-Key", "revoke-1");

    Reply first = keyed.post(path, json("reason", "lost"));
    Reply again = keyed.post(path, json("reason", "lost"));

    assertThat(first.status()).isEqualTo(200);
    assertThat(first.has("idempotent-replayed")).isFalse();
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.header("idempotent-replayed")).isEqualTo("true");
    assertThat(again.body()).isEqualTo(first.body());
  }

  @Test
  void aKeyOfAnotherRequestIs422AndNothingIsDone() {
    String id = mint();
    String other = mint();
    TestClient keyed = CLIENT.with("Idempotency-Key", "revoke-2");
    keyed.post("/v1/ids/" + id + "/revoke", "{}");

    for (Reply refused :
        List.of(
            keyed.post("/v1/ids/" + other + "/revoke", "{}"),
            keyed.post("/v1/ids/" + id + "/revoke", json("reason", "x")),
            keyed.post("/v1/ids/" + other + "/merge", json("into", id)),
            keyed.post("/v1/ids/revoke", json("items", List.of(Map.of("id", other)))),
            keyed.mint("charge"))) {
      assertProblem(refused, 422, "idempotency_key_reused", "Idempotency-Key");
    }
    assertThat(CLIENT.get("/v1/ids/" + other).status()).isEqualTo(200);
  }

  @Test
  void aMergeAndARefusalAreKeptByteForByte() {
    String id = mint();
    String into = mint();
    String third = mint();
    TestClient merging = CLIENT.with("Idempotency-Key", "merge-1");
    TestClient refused = CLIENT.with("Idempotency-Key", "merge-2");

    Reply merged = merging.post("/v1/ids/" + id + "/merge", json("into", into));
    Reply conflict = refused.post("/v1/ids/" + id + "/merge", json("into", third));
    // What it would be answered now is another thing: the survivor has a survivor.
    CLIENT.post("/v1/ids/" + into + "/merge", json("into", third));

    assertThat(merged.status()).isEqualTo(200);
    assertThat(merging.post("/v1/ids/" + id + "/merge", json("into", into)).body())
        .isEqualTo(merged.body());
    assertThat(conflict.status()).isEqualTo(409);
    Reply replayed = refused.post("/v1/ids/" + id + "/merge", json("into", third));
    assertThat(replayed.status()).isEqualTo(409);
    assertThat(replayed.body()).isEqualTo(conflict.body());
  }

  @Test
  void batchesKeepTheirAnswersAlsoWhenTheyAreRefused() {
    String id = mint();
    String items = json("items", List.of(Map.of("id", id), Map.of("id", "junk")), "atomic", false);
    TestClient keyed = CLIENT.with("Idempotency-Key", "batch-1");
    TestClient atomic = CLIENT.with("Idempotency-Key", "batch-2");
    String pair =
        json(
            "items",
            List.of(Map.of("id", mint()), Map.of("id", TestClient.UNKNOWN_ID)),
            "atomic",
            true);

    Reply first = keyed.post("/v1/ids/revoke", items);
    Reply none = atomic.post("/v1/ids/revoke", pair);

    assertThat(keyed.post("/v1/ids/revoke", items).body()).isEqualTo(first.body());
    assertThat(none.status()).isEqualTo(422);
    assertThat(atomic.post("/v1/ids/revoke", pair).body()).isEqualTo(none.body());
  }

  @Test
  void whatMayChangeIsNotKept() {
    TestClient keyed = CLIENT.with("Idempotency-Key", "unknown-1");
    String path = "/v1/ids/" + TestClient.UNKNOWN_ID + "/revoke";

    assertThat(keyed.post(path, "{}").status()).isEqualTo(404);
    assertThat(keyed.post(path, "{}").has("idempotent-replayed")).isFalse();
  }

  @Test
  void racersWithOneKeyGetOneAnswer() throws Exception {
    String path = "/v1/ids/" + mint() + "/revoke";
    TestClient keyed = CLIENT.with("Idempotency-Key", "race-1");
    List<Future<Reply>> replies = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int racer = 0; racer < RACERS; racer++) {
        String body = racer % 2 == 0 ? "{}" : json("reason", "other");
        replies.add(threads.submit(() -> keyed.post(path, body)));
      }
    }

    List<Object> answers = new ArrayList<>();
    for (Future<Reply> reply : replies) {
      assertThat(reply.get().status()).isIn(200, 422);
      if (reply.get().status() == 200) {
        answers.add(reply.get().body());
      }
    }
    assertThat(answers).hasSize(RACERS / 2);
    assertThat(answers.stream().distinct()).hasSize(1);
  }

  @Test
  void anOperationThatKeepsNoAnswersRefusesTheHeader() {
    Reply refused =
        CLIENT
            .hostile()
            .with("Idempotency-Key", "keys-1")
            .post("/v1/keys", json("scheme", "snowflake", "count", 1));

    assertProblem(refused, 400, "header_invalid", "Idempotency-Key");
  }

  @Test
  void whatOnlyReadsIgnoresTheHeader() {
    String id = mint();
    String unknown = json("ids", List.of(TestClient.UNKNOWN_ID));
    TestClient keyed = CLIENT.with("Idempotency-Key", "read-1");

    assertThat(keyed.post("/v1/ids/resolve", unknown).status()).isEqualTo(200);
    assertThat(keyed.post("/v1/ids/resolve", json("ids", List.of(id))).text("/data/0/public_id/id"))
        .isEqualTo(id);
  }

  @Test
  void aRevocationNeedsNoBody() {
    String id = mint();

    assertThat(CLIENT.send("POST", "/v1/ids/" + id + "/revoke", null).status()).isEqualTo(200);
    assertThat(CLIENT.get("/v1/ids/" + id).status()).isEqualTo(410);
    assertProblem(
        CLIENT.hostile().with("Content-Type", "text/plain").post("/v1/ids/" + id + "/revoke", "x"),
        415,
        "unsupported_media_type",
        null);
  }

  private static String mint() {
    return CLIENT.mint("charge").text("/id");
  }
}
