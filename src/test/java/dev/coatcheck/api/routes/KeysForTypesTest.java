package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an API key for some types may do with them, and the ways round that are closed. */
class KeysForTypesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final TestClient ALL = GATEWAY.client();
  private static TestClient user = ALL;
  private static String ours = "";
  private static String foreign = "";

  @BeforeAll
  static void types() {
    ALL.put(TestType.of("user", "usr"));
    ALL.put(
        TestType.of("charge", "ch")
            .with("public_pattern", TestType.pattern("old-", "0123456789", 3, 9))
            .with("url_templates", List.of("/bills/{legacy:charge}"))
            .with("legacy", Map.of("public", false)));
    ours = ALL.mint("user", "key", "1").text("/id");
    foreign = ALL.mint("charge", "key", "1", "legacy_id", "17").text("/id");
    assertThat(ALL.put("/v1/ids/" + foreign + "/aliases/public/old-123", "").status())
        .isEqualTo(201);
    user = GATEWAY.clientWith(Set.of(Scope.ALL), "types = '{user}'");
  }

  @Test
  void theKeyDoesWithItsTypesWhatAnyKeyDoes() {
    assertThat(user.get("/v1/ids/" + ours).status()).isEqualTo(200);
    assertThat(user.mint("user", "key", "2").status()).isEqualTo(201);
    assertProblem(user.get("/v1/ids/usr_000000000000000000000020"), "400 public_id_malformed id");
    assertThat(user.get("/v1/types").body().findValuesAsString("name")).containsExactly("user");
  }

  @Test
  void anIdThatIsNotOfTheTypesIsRefusedAlikeWhateverItIs() {
    Reply refused = user.get("/v1/ids/" + foreign);

    assertProblem(refused, "403 type_not_allowed");
    for (String other :
        List.of(TestClient.UNKNOWN_ID, AccessMatrixTest.OF_NO_TYPE, "old-123", "old-124", "x")) {
      assertThat(withoutRequest(user.get("/v1/ids/" + other)))
          .as(other)
          .isEqualTo(withoutRequest(refused));
    }
  }

  @Test
  void theItemsOfABatchAreRefusedOneByOne() {
    Reply resolved =
        user.post("/v1/ids/resolve", json("ids", List.of(foreign, ours, TestClient.UNKNOWN_ID)));
    assertThat(resolved.body().findValuesAsString("code"))
        .containsExactly("type_not_allowed", "type_not_allowed");
    assertThat(resolved.text("/data/1/public_id/id")).isEqualTo(ours);

    Reply minted =
        user.post(
            "/v1/ids/batch",
            json("items", List.of(Map.of("type", "charge"), Map.of("type", "user", "key", "3"))));
    assertThat(minted.text("/data/0/error/code")).isEqualTo("type_not_allowed");
    assertThat(minted.body().at("/data/1/status").asInt()).isEqualTo(201);

    Reply ended =
        user.post("/v1/ids/merge", json("items", List.of(Map.of("id", ours, "into", foreign))));
    assertThat(ended.text("/data/0/error/code")).isEqualTo("type_not_allowed");
    assertThat(ALL.get("/v1/ids/" + ours).text("/status")).isEqualTo("active");
  }

  @Test
  void theRowsOfAFileAreRefusedOneByOne() {
    Reply imported =
        user.with("Content-Type", "text/csv")
            .post("/v1/imports", "type,key\ncharge,90\nnosuch,91\nuser,92\n");

    assertThat(imported.body().path("created").asInt()).isEqualTo(1);
    assertThat(imported.body().findValuesAsString("code"))
        .containsExactly("type_not_allowed", "type_not_allowed");
    assertProblem(ALL.get("/v1/types/charge/keys/90"), "404 key_unknown key");
  }

  @Test
  void aUrlWithAnIdOfAnotherTypeIsRefused() {
    assertThat(user.resolveUrl("/users/" + ours).status()).isEqualTo(200);
    for (String url :
        List.of(
            "/users/" + ours + "?of=" + foreign,
            "/charges/" + TestClient.UNKNOWN_ID,
            "/bills/17",
            "/bills/18",
            "/x/" + AccessMatrixTest.OF_NO_TYPE)) {
      assertProblem(user.resolveUrl(url), "403 type_not_allowed");
    }
    assertThat(user.resolveUrl("/x/old-123").text("/resolved")).isEqualTo("/x/old-123");
  }

  @Test
  void theInspectorDoesNotSayThatAnIdIsOfAnotherType() {
    assertThat(ALL.get("/v1/inspect/" + foreign).body().toString()).contains("\"charge\"");
    assertThat(user.get("/v1/inspect/" + foreign).body().toString()).doesNotContain("\"charge\"");
    assertThat(user.get("/v1/inspect/" + ours).body().toString()).contains("\"user\"");
  }

  /** Both keys have one principal, which owns the Idempotency-Key. */
  @Test
  void anAnswerThatWasStoredForAKeyForAllTypesIsNotGivenToAKeyForSome() {
    String body =
        json(
            "items",
            List.of(Map.of("type", "charge", "key", "70"), Map.of("type", "user", "key", "70")));
    TestClient all = GATEWAY.clientWith(Set.of(Scope.ALL), "principal = 'shared'");
    TestClient some =
        GATEWAY.clientWith(Set.of(Scope.ALL), "principal = 'shared', types = '{user}'");
    assertThat(all.with("Idempotency-Key", "\"k\"").post("/v1/ids/batch", body).status())
        .isEqualTo(200);

    assertProblem(
        some.with("Idempotency-Key", "\"k\"").post("/v1/ids/batch", body),
        "422 idempotency_key_reused Idempotency-Key");
  }

  @Test
  void aRequestThatWasAnsweredToAKeyForOtherTypesDoesNotAskForAnotherIdempotencyKey() {
    TestClient some =
        GATEWAY.clientWith(Set.of(Scope.ALL), "principal = 'widened', types = '{user}'");
    TestClient more =
        GATEWAY.clientWith(Set.of(Scope.ALL), "principal = 'widened', types = '{user,charge}'");
    TestClient all = GATEWAY.clientWith(Set.of(Scope.ALL), "principal = 'widened'");
    String mint = json("type", "user", "key", "71");
    String rows = "{\"type\":\"user\",\"key\":\"72\"}\n";
    Reply minted = some.with("Idempotency-Key", "\"w\"").post("/v1/ids", mint);
    Reply imported = imported(some, rows);
    assertThat(minted.status()).isEqualTo(201);
    assertThat(imported.status()).isEqualTo(200);

    for (TestClient other : List.of(more, all)) {
      for (Reply reply :
          List.of(
              other.with("Idempotency-Key", "\"w\"").post("/v1/ids", mint),
              imported(other, rows))) {
        assertProblem(reply, "422 idempotency_key_reused Idempotency-Key");
        assertThat(reply.text("/detail"))
            .startsWith("This request was answered before, to an API key for other types.")
            .doesNotContain("send another");
      }
    }
    assertThat(some.with("Idempotency-Key", "\"w\"").post("/v1/ids", mint).body())
        .isEqualTo(minted.body());
    assertThat(imported(some, rows).body()).isEqualTo(imported.body());
  }

  private static Reply imported(TestClient client, String rows) {
    return client
        .with("Idempotency-Key", "\"rows\"")
        .with("Content-Type", "application/x-ndjson")
        .post("/v1/imports", rows);
  }

  @Test
  void theKeyMayCreateATypeOfItsListAndNoOther() {
    TestClient key = GATEWAY.clientWith(Set.of(Scope.TYPES_WRITE), "types = '{later}'");

    assertProblem(key.put(TestType.of("other", "other")), "403 type_not_allowed");
    assertThat(key.put(TestType.of("later", "later")).status()).isEqualTo(201);
  }

  @Test
  void theKeySeesOnlyApiKeysForItsTypes() {
    for (List<String> types : List.of(List.of("user"), List.of("user", "charge"))) {
      ALL.post(
          "/v1/access/keys",
          json("name", "of " + types, "scopes", List.of("ids:read"), "types", types));
    }

    assertThat(user.get("/v1/access/keys").body().findValuesAsString("name"))
        .contains("of [user]")
        .doesNotContain("of [user, charge]");
    assertProblem(
        user.post(
            "/v1/access/keys",
            json("name", "x", "scopes", List.of("ids:read"), "types", List.of("nosuch"))),
        "403 rights_exceeded types");
  }

  @Test
  void aTypeDrawsFromASegmentOnlyByTheRightToDrawFromItDirectly() {
    ALL.put("/v1/segments/invoice", "{}");
    TestType bill = TestType.of("bill", "bill").with("generate", "segment").with("tag", "invoice");
    TestClient types = GATEWAY.clientWith(Scope.TYPES_WRITE);
    TestClient some =
        GATEWAY.clientWith(Set.of(Scope.TYPES_WRITE, Scope.KEYS_WRITE), "types = '{bill}'");

    assertProblem(types.put(bill), "403 forbidden");
    assertProblem(some.put(bill), "403 type_not_allowed");
    assertProblem(
        some.post("/v1/keys", json("scheme", "segment", "tag", "invoice", "count", 1)),
        "403 type_not_allowed");
    assertThat(GATEWAY.clientWith(Set.of(Scope.TYPES_WRITE, Scope.KEYS_WRITE)).put(bill).status())
        .isEqualTo(201);
    assertThat(types.put(bill).status()).as("it draws from it already").isEqualTo(200);
  }

  private static String withoutRequest(Reply reply) {
    return reply.status() + reply.body().toString().replaceAll("\"request_id\":\"[^\"]*\"", "");
  }
}
