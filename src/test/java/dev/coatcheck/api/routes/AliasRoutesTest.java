package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.UNKNOWN_ID;
import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.hashids.Hashids;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Aliases are seen, and one that was given by mistake is removed with the links that it has. */
class AliasRoutesTest {
  private static final String OLDER = "cus_0123456789";

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();

  @BeforeAll
  static void types() {
    CLIENT.put(
        TestType.of("charge", "ch")
            .redirect("https://shop.example/{id}")
            .with("legacy", Map.of())
            .with("public_pattern", TestType.pattern("cus_", "0123456789", 10, 10)));
    CLIENT.put(TestType.of("note", "nt"));
    CLIENT.put(
        TestType.of("ruled", "ru")
            .with("public_rule", Map.of("scheme", "hashids", "salt", "a", "text_prefix", "ru-")));
  }

  @Test
  void allAliasesOfAPublicIdAreListedInOneOrderAlsoAfterItsEnd() {
    String clientId = "a" + UUID.randomUUID().toString().substring(1);
    String id = CLIENT.mint("charge", "legacy_id", "12").text("/id");
    String survivor = CLIENT.mint("charge", "legacy_id", "13").text("/id");
    add(id, "public/" + OLDER);
    add(id, "client/" + clientId + "?client_namespace=room");
    add(id, "client/" + clientId + "?client_namespace=hall");
    add(id, "legacy/1201");

    Reply listed = list(id);
    CLIENT.post("/v1/ids/" + id + "/merge", json("into", survivor));
    Reply merged = list(id);
    CLIENT.post("/v1/ids/" + survivor + "/revoke", "{}");

    assertThat(listed.body().at("/data").findValuesAsString("scheme"))
        .containsExactly("legacy", "legacy", "client", "client", "public");
    assertThat(listed.body().at("/data").findValuesAsString("value"))
        .containsExactly("12", "1201", clientId, clientId, OLDER);
    assertThat(listed.body().at("/data").findValuesAsString("client_namespace"))
        .containsExactly("hall", "room");
    assertThat(listed.body().at("/has_more").booleanValue()).isFalse();
    assertThat(merged.body()).isEqualTo(listed.body());
    assertThat(list(survivor).body().at("/data").findValuesAsString("value")).containsExactly("13");
    assertThat(list(CLIENT.mint("charge").text("/id")).body().at("/data")).isEmpty();
  }

  @Test
  void aClientIdOfAPrincipalIsListedWithItAndOnlyThatPrincipalRemovesIt() {
    String clientId = "a" + UUID.randomUUID().toString().substring(1);
    TestClient alice = GATEWAY.clientOf("alice", Scope.ALL);
    String id = alice.mint("note", "client_id", clientId).text("/id");
    String path = "/v1/ids/" + id + "/aliases/client/" + clientId;

    assertThat(list(id).text("/data/0/client_principal")).isEqualTo("alice");
    assertThat(CLIENT.delete(path).status()).isEqualTo(204);
    assertThat(list(id).body().at("/data")).hasSize(1);
    assertThat(alice.delete(path).status()).isEqualTo(204);
    assertThat(list(id).body().at("/data")).isEmpty();
  }

  @Test
  void aThousandAliasesAreListedAndTheAnswerSaysThatThereAreMore() {
    String id = CLIENT.mint("note").text("/id");
    String insert =
        """
        insert into coatcheck.alias (token, type_id, bucket, scheme, value, namespace)
        select p.token, t.type_id, coatcheck.bucket_of_alias(t.salt, 'legacy', n::text), 'legacy',
               n::text, ''
          from generate_series(%d, %d) as n
          join coatcheck.type t on t.name = 'note'
          join coatcheck.public_id p on p.type_id = t.type_id and p.key = %s
        """;
    String key = CLIENT.get("/v1/ids/" + id).text("/key");

    GATEWAY.execute(insert.formatted(90_001, 91_000, key));
    Reply all = list(id);
    GATEWAY.execute(insert.formatted(91_001, 91_001, key));
    Reply some = list(id);

    assertThat(all.body().at("/data")).hasSize(1_000);
    assertThat(all.body().at("/has_more").booleanValue()).isFalse();
    assertThat(some.body().at("/data")).hasSize(1_000);
    assertThat(some.body().at("/has_more").booleanValue()).isTrue();
  }

  @Test
  void aRemovedAliasAndItsLinksHaveNoTargetAndAnotherPublicIdMayHaveIt() {
    TestClient anyone = CLIENT.anonymous();
    String older = "cus_5550001111";
    String id = CLIENT.mint("charge", "legacy_id", "55").text("/id");
    add(id, "public/" + older);
    assertThat(anyone.get("/legacy/charge/55").status()).isEqualTo(308);
    assertThat(anyone.get("/r/" + older).status()).isEqualTo(302);

    assertThat(remove(id, "legacy/55").status()).isEqualTo(204);
    assertThat(remove(id, "public/" + older).status()).isEqualTo(204);

    assertThat(anyone.get("/legacy/charge/55").status()).isEqualTo(404);
    assertThat(anyone.get("/r/" + older).status()).isEqualTo(404);
    assertProblem(CLIENT.get("/v1/types/charge/aliases/legacy/55"), "404 alias_unknown value");
    assertProblem(CLIENT.get("/v1/legacy/charge/55"), "404 legacy_id_unknown n");
    assertThat(CLIENT.get("/v1/ids/" + id).status()).isEqualTo(200);
    assertThat(anyone.get("/r/" + id).status()).isEqualTo(302);
    Reply other = CLIENT.mint("charge", "legacy_id", "55");
    assertThat(other.status()).isEqualTo(201);
    assertThat(CLIENT.get("/v1/legacy/charge/55").text("/id")).isEqualTo(other.text("/id"));
  }

  /** What this instance has cached of an alias ends when it gets another public ID here. */
  @Test
  void anAliasThatMovesIsFoundAtItsNewPublicIdAtOnce() {
    String id = CLIENT.mint("charge", "legacy_id", "66").text("/id");
    String other = CLIENT.mint("charge").text("/id");
    assertThat(CLIENT.get("/v1/legacy/charge/66").text("/id")).isEqualTo(id);

    remove(id, "legacy/66");
    assertThat(add(other, "legacy/66").status()).isEqualTo(201);

    assertThat(CLIENT.get("/v1/legacy/charge/66").text("/id")).isEqualTo(other);
  }

  @Test
  void removingIsDoneOnceAndNeverTouchesTheAliasOfAnotherPublicId() {
    String id = CLIENT.mint("charge", "legacy_id", "77").text("/id");
    String other = CLIENT.mint("charge").text("/id");
    String changes = "select count(*) from coatcheck.change where kind = 'alias'";
    long before = GATEWAY.count(changes);

    assertProblem(remove(other, "legacy/77"), "409 alias_conflict value");
    assertThat(CLIENT.get("/v1/legacy/charge/77").text("/id")).isEqualTo(id);
    assertThat(remove(id, "legacy/77").status()).isEqualTo(204);
    assertThat(remove(id, "legacy/77").status()).isEqualTo(204);
    assertThat(remove(other, "legacy/77").status()).isEqualTo(204);
    assertThat(GATEWAY.count(changes)).isEqualTo(before + 1);
  }

  @Test
  void anAliasOfAnEndedPublicIdIsRemovedToo() {
    String id = CLIENT.mint("charge", "legacy_id", "88").text("/id");
    CLIENT.post("/v1/ids/" + id + "/revoke", "{}");
    assertProblem(CLIENT.mint("charge", "legacy_id", "88"), "409 id_ended");

    assertThat(remove(id, "legacy/88").status()).isEqualTo(204);

    assertThat(CLIENT.mint("charge", "legacy_id", "88").status()).isEqualTo(201);
  }

  /** Either the removal comes first, and the mint has a new public ID, or it takes the alias. */
  @Test
  void anAliasThatIsRemovedWhileItIsMintedIsThereOrNotAndNothingBetween() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < 20; round++) {
        String legacy = Integer.toString(7_000 + round);
        String first = CLIENT.mint("note", "legacy_id", legacy).text("/id");
        List<Future<Reply>> mints = new ArrayList<>();
        List<Future<Reply>> removals = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
          mints.add(threads.submit(() -> CLIENT.mint("note", "legacy_id", legacy)));
          removals.add(threads.submit(() -> remove(first, "legacy/" + legacy)));
        }
        for (Future<Reply> removal : removals) {
          assertThat(removal.get().status()).isIn(204, 409);
        }
        List<String> minted = new ArrayList<>();
        for (Future<Reply> mint : mints) {
          assertThat(mint.get().status()).isIn(200, 201);
          minted.add(mint.get().text("/id"));
        }
        List<String> others = minted.stream().filter(id -> !id.equals(first)).distinct().toList();
        assertThat(others).hasSizeLessThanOrEqualTo(1);
        Reply found = CLIENT.get("/v1/types/note/aliases/legacy/" + legacy);
        assertThat(found.status()).isEqualTo(others.isEmpty() ? 404 : 200);
        if (!others.isEmpty()) {
          assertThat(
                  GATEWAY.count(
                      "select count(*) from coatcheck.alias where value = '" + legacy + "'"))
              .isEqualTo(1);
          assertThat(list(others.getFirst()).text("/data/0/value")).isEqualTo(legacy);
          assertThat(list(first).body().at("/data")).isEmpty();
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          old/1                                                  | 400 parameter_invalid scheme
          legacy/007                                             | 400 alias_malformed value
          public/x                                               | 400 alias_malformed value
          client/x?client_namespace=a                            | 400 alias_malformed value
          legacy/1?client_namespace=a                            | 400 parameter_invalid client_namespace
          legacy/1?force=1                                       | 400 parameter_unknown force
          """)
  void whatIsNoAliasIsNotRemoved(String alias, String problem) {
    String id = CLIENT.mint("charge").text("/id");

    assertProblem(CLIENT.hostile().delete("/v1/ids/" + id + "/aliases/" + alias), problem);
  }

  @Test
  void aBodyIsRefusedAndNothingIsDone() {
    String alias = "/v1/ids/" + CLIENT.mint("charge").text("/id") + "/aliases/legacy/9000017";

    assertProblem(CLIENT.hostile().put(alias, "{}"), "400 field_unknown body");
    assertThat(CLIENT.put(alias, "").status()).isEqualTo(201);
    assertProblem(CLIENT.hostile().send("DELETE", alias, "{}"), "400 field_unknown body");
    assertThat(CLIENT.put(alias, "").status()).isEqualTo(200);
  }

  @Test
  void anUnknownPublicIdHasNoAliasesAndAMalformedOneIsRefused() {
    assertProblem(list(UNKNOWN_ID), "404 public_id_unknown id");
    assertProblem(remove(UNKNOWN_ID, "legacy/1"), "404 public_id_unknown id");
    assertProblem(list("ch_x"), "400 public_id_malformed id");
    assertProblem(
        CLIENT.hostile().delete("/v1/ids/ch_x/aliases/legacy/1"), "400 public_id_malformed id");
    assertProblem(
        CLIENT.hostile().get("/v1/ids/" + UNKNOWN_ID + "/aliases?limit=1"),
        "400 parameter_unknown limit");
  }

  @Test
  void expandAddsTheAliasesAndNothingElse() {
    String id = CLIENT.mint("charge", "legacy_id", "99").text("/id");
    String into = CLIENT.mint("charge", "legacy_id", "100").text("/id");
    Reply plain = CLIENT.get("/v1/ids/" + id);
    Reply expanded = CLIENT.get("/v1/ids/" + id + "?expand=aliases");
    CLIENT.post("/v1/ids/" + id + "/merge", json("into", into));
    Reply merged = CLIENT.get("/v1/ids/" + id + "?expand=aliases");

    assertThat(plain.body().has("aliases")).isFalse();
    assertThat(expanded.body().get("aliases")).isEqualTo(list(id).body());
    assertThat(expanded.text("/aliases/data/0/value")).isEqualTo("99");
    assertThat(merged.text("/merged_into")).isEqualTo(into);
    assertThat(merged.text("/aliases/data/0/value")).isEqualTo("99");
    assertProblem(
        CLIENT.hostile().get("/v1/ids/" + id + "?expand=keys"), "400 parameter_invalid expand");
    assertProblem(
        CLIENT.get("/v1/ids/" + UNKNOWN_ID + "?expand=aliases"), "404 public_id_unknown id");
  }

  @Test
  void eachAnswerToARequestWithALegacyIdHasIt() {
    Reply minted = CLIENT.mint("ruled", "legacy_id", "4711");
    String id = minted.text("/id");
    Reply batch =
        CLIENT.post(
            "/v1/ids/batch",
            """
            {"items":[{"type":"ruled","legacy_id":"4711"},{"type":"ruled"}]}
            """);
    String older = "ru-" + new Hashids("a").encode(4711);

    assertThat(minted.text("/legacy_id")).isEqualTo("4711");
    assertThat(CLIENT.mint("ruled", "legacy_id", "4711").body()).isEqualTo(minted.body());
    assertThat(batch.text("/data/0/public_id/legacy_id")).isEqualTo("4711");
    assertThat(batch.body().at("/data/1/public_id").has("legacy_id")).isFalse();
    assertThat(add(id, "legacy/4711").text("/public_id/legacy_id")).isEqualTo("4711");
    assertThat(CLIENT.get("/v1/types/ruled/aliases/legacy/4711").text("/public_id/legacy_id"))
        .isEqualTo("4711");
    assertThat(CLIENT.get("/v1/legacy/ruled/4711").text("/legacy_id")).isEqualTo("4711");
    assertThat(
            CLIENT
                .post("/v1/legacy/resolve", json("type", "ruled", "legacy_ids", List.of("4711")))
                .text("/data/0/public_id/legacy_id"))
        .isEqualTo("4711");
    assertThat(CLIENT.get("/v1/ids/" + older).text("/legacy_id")).isEqualTo("4711");
    assertThat(
            CLIENT
                .post("/v1/ids/resolve", json("ids", List.of(id, older)))
                .body()
                .at("/data")
                .findValuesAsString("legacy_id"))
        .containsExactly("4711");
    assertThat(CLIENT.get("/v1/ids/" + id).body().has("legacy_id")).isFalse();
  }

  private static Reply list(String id) {
    return CLIENT.get("/v1/ids/" + id + "/aliases");
  }

  private static Reply add(String id, String alias) {
    return CLIENT.send("PUT", "/v1/ids/" + id + "/aliases/" + alias, null);
  }

  private static Reply remove(String id, String alias) {
    return CLIENT.delete("/v1/ids/" + id + "/aliases/" + alias);
  }
}
