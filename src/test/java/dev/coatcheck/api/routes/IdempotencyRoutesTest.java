package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Promises 7 to 9: what is sent twice with one Idempotency-Key is done once. */
class IdempotencyRoutesTest {
  private static final int RACERS = 20;
  private static final String IMPORTS = "/v1/imports";

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();
  private static final TestClient CSV = CLIENT.with("Content-Type", "text/csv");
  private static final AtomicInteger KEYS = new AtomicInteger();

  @BeforeAll
  static void start() {
    CLIENT.put(TestType.of("charge", "ch"));
    CLIENT.put(TestType.of("order", "or"));
    CLIENT.mint("charge", "key", "400", "legacy_id", "400");
  }

  /** NEW stands for a new public ID, NONE for an unknown one. Refusals are kept too. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          201 | /v1/ids             | {"type":"charge"}                                | {"type":"order"}
          409 | /v1/ids             | {"type":"charge","key":"1","legacy_id":"400"}    | {"type":"charge","key":"1"}
          200 | /v1/ids/batch       | {"type":"charge","count":3}                      | {"type":"charge","count":2}
          422 | /v1/ids/batch       | {"atomic":true,"items":[{"type":"charge","key":"2"},{"type":"charge","key":"3","legacy_id":"400"}]} | {"type":"charge","count":1}
          200 | /v1/ids/NEW/revoke  | {"reason":"lost"}                                | {"reason":"other"}
          200 | /v1/ids/NEW/merge   | {"into":"NEW"}                                   | {"into":"NONE"}
          409 | /v1/ids/SAME/merge  | {"into":"SAME"}                                  | {"into":"NONE"}
          200 | /v1/ids/revoke      | {"items":[{"id":"NEW"},{"id":"junk"}]}           | {"items":[{"id":"NEW"}]}
          422 | /v1/ids/revoke      | {"items":[{"id":"NEW"},{"id":"NONE"}],"atomic":true} | {"items":[{"id":"NEW"}]}
          """)
  void aRequestIsDoneOnceAndAnsweredByteForByteAndAnotherWithItsKeyIs422(
      int status, String path, String body, String other) {
    String same = mint();
    String target = filled(path, same);
    String request = filled(body, same);
    String otherRequest = filled(other, same);
    TestClient keyed = keyed();

    Reply first = keyed.post(target, request);
    long written = written();
    Reply again = keyed.post(target, request);
    Reply refused = keyed.post(target, otherRequest);

    assertThat(first.status()).isEqualTo(status);
    assertThat(first.has("idempotent-replayed")).isFalse();
    assertThat(again.status()).isEqualTo(status);
    assertThat(again.header("idempotent-replayed")).isEqualTo("true");
    assertThat(again.body()).isEqualTo(first.body());
    assertProblem(refused, "422 idempotency_key_reused Idempotency-Key");
    assertProblem(
        keyed.post("/v1/ids/" + same + "/revoke", json("reason", "x")),
        "422 idempotency_key_reused Idempotency-Key");
    assertThat(written()).isEqualTo(written);
    assertThat(CLIENT.get("/v1/types/charge/keys/2").status()).isEqualTo(404);
  }

  private static String filled(String text, String same) {
    String filled = text.replace("SAME", same).replace("NONE", TestClient.UNKNOWN_ID);
    while (filled.contains("NEW")) {
      filled = filled.replaceFirst("NEW", mint());
    }
    return filled;
  }

  /** Public IDs that are active; each is another one after a mint or an ending. */
  private static long written() {
    return GATEWAY.count("select count(*) filter (where status = 0) from coatcheck.public_id");
  }

  /** What it would be answered now is another thing: the survivor has a survivor. */
  @Test
  void anAnswerIsKeptAlsoWhenItsReasonIsGone() {
    String id = mint();
    String into = mint();
    TestClient merging = keyed();
    Reply merged = merging.post("/v1/ids/" + id + "/merge", json("into", into));

    CLIENT.post("/v1/ids/" + into + "/merge", json("into", mint()));

    assertThat(merging.post("/v1/ids/" + id + "/merge", json("into", into)).body())
        .isEqualTo(merged.body());
  }

  @Test
  void whatMayChangeIsNotKept() {
    TestClient unknown = keyed();
    String path = "/v1/ids/" + TestClient.UNKNOWN_ID + "/revoke";
    assertThat(unknown.post(path, "{}").status()).isEqualTo(404);
    assertThat(unknown.post(path, "{}").has("idempotent-replayed")).isFalse();

    TestClient mended = keyed();
    assertThat(mended.hostile().mint("charge", "key", "x").status()).isEqualTo(400);
    assertThat(mended.mint("charge", "key", "600").status()).isEqualTo(201);
  }

  @Test
  void whatWasMintedIsAnsweredAlsoWhereItWouldBeRefusedNow() {
    CLIENT.put(TestType.of("draft", "dr").with("client_names", "shared"));
    TestClient keyed = keyed();
    String request = json("type", "draft", "client_id", UUID.randomUUID().toString());
    Reply minted = keyed.post("/v1/ids", request);
    assertThat(minted.status()).isEqualTo(201);
    CLIENT.patch("/v1/types/draft", json("client_names", "required"));

    assertThat(keyed.post("/v1/ids", request).body()).isEqualTo(minted.body());
    assertProblem(
        keyed.hostile().post("/v1/ids", json("type", "draft", "key", "x")),
        "422 idempotency_key_reused Idempotency-Key");
  }

  @Test
  void aRefusedMintHasOneAnswerToo() {
    CLIENT.put(TestType.of("row", "ro").with("generate", "none"));
    TestClient keyed = keyed();
    assertProblem(keyed.mint("row"), "422 key_required key");

    Reply again = keyed.mint("row");
    assertProblem(again, "422 key_required key");
    assertThat(again.header("idempotent-replayed")).isEqualTo("true");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aBatchWithoutASoundItemHasOneAnswerToo(boolean atomic) {
    String type = "late" + atomic;
    String bad =
        json("atomic", atomic, "items", List.of(Map.of("type", type), Map.of("type", type)));
    TestClient used = keyed();
    used.post("/v1/ids/batch", json("type", "charge", "count", 1));
    assertProblem(used.post("/v1/ids/batch", bad), "422 idempotency_key_reused Idempotency-Key");

    TestClient keyed = keyed();
    Reply first = keyed.post("/v1/ids/batch", bad);
    assertThat(first.status()).isEqualTo(atomic ? 422 : 200);
    CLIENT.put(TestType.of(type, atomic ? "lt" : "lf"));

    Reply again = keyed.post("/v1/ids/batch", bad);
    assertThat(again.body()).isEqualTo(first.body());
    assertThat(again.header("idempotent-replayed")).isEqualTo("true");
  }

  @Test
  void anotherBatchOfEndingsWithoutASoundItemIs422() {
    TestClient used = keyed();
    used.post("/v1/ids/revoke", json("items", List.of(Map.of("id", mint()))));

    assertProblem(
        used.post("/v1/ids/revoke", json("items", List.of(Map.of("id", mint(), "reason", " ")))),
        "422 idempotency_key_reused Idempotency-Key");
  }

  @Test
  void racersWithOneKeyGetOneAnswer() throws Exception {
    String path = "/v1/ids/" + mint() + "/revoke";
    TestClient keyed = keyed();
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
  void anOperationThatKeepsNoAnswersRefusesTheHeaderAndOneThatReadsIgnoresIt() {
    String id = mint();

    assertProblem(
        keyed().hostile().post("/v1/keys", json("scheme", "snowflake", "count", 1)),
        "400 header_invalid Idempotency-Key");
    for (String asked : List.of(TestClient.UNKNOWN_ID, id)) {
      Reply read =
          CLIENT
              .with("Idempotency-Key", "read")
              .post("/v1/ids/resolve", json("ids", List.of(asked)));
      assertThat(read.body().at("/data/0/public_id").isMissingNode()).isEqualTo(!asked.equals(id));
    }
  }

  @Test
  void aKeyHas255CharactersWithoutItsQuotesAndBackslashes() {
    for (String longest : List.of("k".repeat(255), "\\\\".repeat(255), "\\\"".repeat(255))) {
      TestClient quoted = CLIENT.with("Idempotency-Key", '"' + longest + '"');
      assertThat(quoted.mint("charge").body()).isEqualTo(quoted.mint("charge").body());
    }
    for (String tooLong : List.of("k".repeat(256), "\"" + "k".repeat(256) + "\"")) {
      assertProblem(
          CLIENT.hostile().with("Idempotency-Key", tooLong).mint("charge"),
          "400 header_invalid Idempotency-Key");
    }
  }

  @Test
  void aKeyInQuotesIsTheSameKeyAndABrokenOneIs400() {
    Reply quoted = CLIENT.with("Idempotency-Key", "\"first\"").mint("charge");

    assertThat(CLIENT.with("Idempotency-Key", "first").mint("charge").body())
        .isEqualTo(quoted.body());
    for (String broken : List.of("\"open", "\"in\"side", "\"\\x\"", "a\"b")) {
      assertProblem(
          CLIENT.hostile().with("Idempotency-Key", broken).mint("charge"),
          "400 header_invalid Idempotency-Key");
    }
  }

  @Test
  void aFileIsImportedOnceAndAnotherOneOrOtherParametersAre422() {
    TestClient keyed = keyedFile();
    String file = "type,key\ncharge,101\ncharge,bad\n";
    Reply first = keyed.post(IMPORTS, file);
    GATEWAY.execute("delete from coatcheck.public_id where key = 101");

    Reply second = keyed.post(IMPORTS, file);

    assertThat(first.status()).isEqualTo(200);
    assertThat(first.has("idempotent-replayed")).isFalse();
    assertThat(first.body().path("created").intValue()).isEqualTo(1);
    assertThat(second.header("idempotent-replayed")).isEqualTo("true");
    assertThat(second.body()).isEqualTo(first.body());
    for (Reply refused :
        List.of(
            keyed.post(IMPORTS, "type,key\ncharge,101\n"),
            keyed.post(IMPORTS + "?errors_max=7", file))) {
      assertProblem(refused, "422 idempotency_key_reused Idempotency-Key");
    }
    assertThat(isThere(101)).isFalse();
  }

  @Test
  void aFileThatWasRefusedMayBeMendedAndSentWithTheSameKey() {
    TestClient keyed = keyedFile();
    String file = "type,key\ncharge,301\n";

    assertProblem(keyed.post(IMPORTS, "id\n301\n"), "400 request_invalid");
    assertProblem(
        keyed.post(IMPORTS + "?errors_max=1001", file), "400 parameter_invalid errors_max");
    assertThat(isThere(301)).isFalse();
    assertThat(keyed.post(IMPORTS, file).status()).isEqualTo(200);
    assertThat(isThere(301)).isTrue();
  }

  @Test
  void whileAnotherRequestWorksOnTheKeyItIs409AndSentAgainItIsAnswered() {
    String file = "type,key\ncharge,501\n";
    TestClient held = CSV.with("Idempotency-Key", "held");
    try (TestSession other = GATEWAY.sql().session()) {
      other.begin(
          "select pg_advisory_xact_lock(%d)".formatted(new IdempotencyKey("test", "held").lock()));

      Reply busy = held.refused("busy", once -> once.post(IMPORTS, file));

      assertProblem(busy, "409 busy");
      assertThat(busy.header("retry-after")).isEqualTo("1");
      other.rollback();
    }
    Reply settled = held.post(IMPORTS, file);
    assertThat(settled.status()).isEqualTo(200);
    assertThat(settled.body().path("existing").intValue()).isEqualTo(1);
  }

  private static TestClient keyed() {
    return CLIENT.with("Idempotency-Key", "key-" + KEYS.incrementAndGet());
  }

  private static TestClient keyedFile() {
    return CSV.with("Idempotency-Key", "file-" + KEYS.incrementAndGet());
  }

  private static boolean isThere(int key) {
    return CLIENT.get("/v1/types/charge/keys/" + key).status() == 200;
  }

  private static String mint() {
    return CLIENT.mint("charge").text("/id");
  }
}
