package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.UNKNOWN_ID;
import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each status that an endpoint can answer; every exchange is judged by the contract. */
class EndpointsTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static TestClient client;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    client.put(TestType.of("charge", "ch").redirect("https://shop.example/charges/{id}"));
    client.put(TestType.of("user", "usr").uuids());
    client.put(TestType.of("minted", "mi"));
    client.put(
        TestType.of("older", "or")
            .with("public_pattern", TestType.pattern("ord-", "0123456789", 1, 20))
            .redirect("https://shop.example/{id}"));
  }

  @Test
  void typesAreCreatedListedAndChanged() {
    Reply created = put("order", "ord", "bigint", null);
    assertThat(created.status()).isEqualTo(201);
    assertThat(created.header("ETag")).isEqualTo("\"1\"");
    assertThat(created.body().get("redirect").isNull()).isTrue();

    Reply changed =
        put("order", "ord", "bigint", json("template", "https://a.example/{id}", "status", 308));
    assertThat(changed.status()).isEqualTo(200);
    assertThat(changed.header("ETag")).isEqualTo("\"2\"");
    assertThat(changed.body().at("/redirect/status").intValue()).isEqualTo(308);

    assertThat(client.get("/v1/types/order").body()).isEqualTo(changed.body());
    assertThat(client.get("/v1/types").body().at("/data").findValuesAsString("name"))
        .contains("charge", "order", "user")
        .isSorted();
    assertProblem(client.get("/v1/types/nothing"), "404 type_unknown name");
  }

  @Test
  void whatATypeNeverChangesIs409AndAChangeOfAnotherVersionIs412() {
    put("payout", "po", "bigint", null);
    assertProblem(put("payout", "pp", "bigint", null), "409 immutable_field prefix");
    assertProblem(put("payout_2", "po", "bigint", null), "409 prefix_taken prefix");
    String body = json("prefix", "po", "key", "bigint");

    assertThat(client.with("If-Match", "\"1\"").put("/v1/types/payout", body).status())
        .isEqualTo(200);
    assertProblem(
        client.with("If-Match", "\"9\"").put("/v1/types/payout", body),
        "412 precondition_failed If-Match");
  }

  @Test
  void aDangerousRedirectIs422() {
    assertProblem(
        put("danger", "dng", "bigint", json("template", "//evil.example/{id}")),
        "422 redirect_template_refused redirect.template");
    assertThat(client.get("/v1/types/danger").status()).isEqualTo(404);
  }

  @Test
  void aMintIs201AndAgainIs200() {
    Reply first = client.mint("charge", "key", "42");
    Reply second = client.mint("charge", "key", "42");

    assertThat(first.status()).isEqualTo(201);
    assertThat(second.status()).isEqualTo(200);
    assertThat(second.body()).isEqualTo(first.body());
    assertThat(first.text("/key")).isEqualTo("42");
    assertThat(first.text("/id")).startsWith("ch_").hasSize(27);
    assertThat(client.get("/v1/ids/" + first.text("/id")).body()).isEqualTo(first.body());
    assertThat(client.get("/v1/types/charge/keys/42").body()).isEqualTo(first.body());
  }

  @Test
  void whatIsUnknownIs404AndWhatIsMalformedIs400() {
    assertProblem(client.get("/v1/ids/" + UNKNOWN_ID), "404 public_id_unknown id");
    assertProblem(client.get("/v1/types/charge/keys/999"), "404 key_unknown key");
    assertProblem(client.get("/v1/types/nothing/keys/1"), "404 type_unknown type");
    assertProblem(client.hostile().get("/v1/types/charge/keys/007"), "400 key_malformed key");
    assertProblem(client.hostile().mint("nothing"), "404 type_unknown type");
    assertProblem(
        client.post("/v1/ids/batch", json("type", "nothing", "count", 1)), "404 type_unknown type");
    Reply malformed = client.get("/v1/ids/ch_00000000000000000000002C");
    assertProblem(malformed, "400 public_id_malformed id");
    assertThat(malformed.text("/reason")).isEqualTo("check");
  }

  @Test
  void aBatchAnswersEachItemInItsPlace() {
    Reply reply =
        client.post(
            "/v1/ids/batch",
            """
            {"items":[{"type":"charge","key":"100"},{"type":"charge","key":"x"},{"type":"nothing"},
                      {"type":"user"},{"type":"charge","key":"100"}]}
            """);

    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.body().at("/data").findValuesAsString("index"))
        .containsExactly("0", "1", "2", "3", "4");
    assertThat(IntStream.range(0, 5).map(i -> reply.body().at("/data/" + i + "/status").intValue()))
        .containsExactly(201, 400, 404, 201, 200);
    assertThat(reply.text("/data/1/error/param")).isEqualTo("items[1].key");
    assertThat(reply.text("/data/4/public_id/id")).isEqualTo(reply.text("/data/0/public_id/id"));
  }

  @Test
  void anAtomicBatchWithABadItemDoesNothing() {
    Reply refused =
        client.post(
            "/v1/ids/batch",
            """
            {"atomic":true,"items":[{"type":"charge","key":"200"},{"type":"charge","key":"-1"}]}
            """);

    assertThat(refused.status()).isEqualTo(422);
    assertThat(refused.text("/code")).isEqualTo("batch_refused");
    assertThat(refused.body().at("/errors/0/index").intValue()).isEqualTo(1);
    assertThat(client.get("/v1/types/charge/keys/200").status()).isEqualTo(404);
  }

  @Test
  void aThousandAreMintedResolvedAndLookedUpInOneCallEach() {
    assertThat(client.mint("charge").text("/key")).matches("[0-9]{18}");
    Reply minted = client.post("/v1/ids/batch", json("type", "user", "count", 1000));
    List<String> ids = minted.body().at("/data").findValuesAsString("id");
    List<String> keys = minted.body().at("/data").findValuesAsString("key");
    assertThat(ids).hasSize(1_000).doesNotHaveDuplicates();

    assertThat(
            client
                .post("/v1/ids/resolve", json("ids", ids))
                .body()
                .at("/data")
                .findValuesAsString("key"))
        .isEqualTo(keys);
    assertThat(
            client
                .post("/v1/ids/lookup", json("type", "user", "keys", keys))
                .body()
                .at("/data")
                .findValuesAsString("id"))
        .isEqualTo(ids);
  }

  @Test
  void resolvingAndLookingUpManyAnswersEachInItsPlace() {
    String id = client.mint("charge", "key", "300").text("/id");
    Reply resolved = client.post("/v1/ids/resolve", json("ids", List.of(UNKNOWN_ID, id, "ch_x")));
    Reply found =
        client.post("/v1/ids/lookup", json("type", "charge", "keys", List.of("301", "300", "+1")));

    assertThat(
            IntStream.range(0, 3).map(i -> resolved.body().at("/data/" + i + "/status").intValue()))
        .containsExactly(404, 200, 400);
    assertThat(IntStream.range(0, 3).map(i -> found.body().at("/data/" + i + "/status").intValue()))
        .containsExactly(404, 200, 400);
    assertProblem(
        client.post("/v1/ids/lookup", json("type", "nothing", "keys", List.of("1"))),
        "404 type_unknown type");
  }

  @Test
  void theListIsNewestFirstAndPagesWithoutGaps() {
    put("page", "pg", "bigint", null);
    for (int key = 1; key <= 5; key++) {
      client.mint("page", "key", String.valueOf(key));
    }
    Reply first = client.get("/v1/ids?type=page&limit=3");
    Reply second =
        client.get("/v1/ids?type=page&limit=3&starting_after=" + first.text("/data/2/id"));

    assertThat(first.body().at("/data").findValuesAsString("key")).containsExactly("5", "4", "3");
    assertThat(first.body().at("/has_more").booleanValue()).isTrue();
    assertThat(second.body().at("/data").findValuesAsString("key")).containsExactly("2", "1");
    assertThat(second.body().at("/has_more").booleanValue()).isFalse();
    String charge = client.mint("charge").text("/id");
    assertProblem(
        client.get("/v1/ids?type=page&starting_after=" + charge),
        "400 parameter_invalid starting_after");
    assertProblem(client.get("/v1/ids?type=nothing"), "404 type_unknown type");
    assertProblem(client.hostile().get("/v1/ids"), "400 parameter_invalid type");
  }

  @Test
  void aPublicRedirectHasTheStatusAndAgeOfItsType() {
    put(
        "moved",
        "mv",
        "bigint",
        """
        {"template":"https://shop.example/{id}?k={key}","status":307,"max_age_seconds":60,
         "expose_key":true}
        """);
    String id = client.mint("moved", "key", "7").text("/id");

    for (Reply reply :
        List.of(
            client.anonymous().get("/r/" + id + "?next=https://evil.example"),
            client.anonymous().head("/r/" + id))) {
      assertThat(reply.status()).isEqualTo(307);
      assertThat(reply.header("Location")).isEqualTo("https://shop.example/" + id + "?k=7");
      assertThat(reply.header("Cache-Control")).isEqualTo("public, max-age=60");
    }
  }

  @Test
  void everythingThatIsNoPublicRedirectLooksTheSame() {
    put("private", "prv", "bigint", json("template", "https://a.example/", "public", false));
    String hidden = client.mint("private").text("/id");
    String without = client.mint("user").text("/id");
    String hiddenAndGone = client.mint("private").text("/id");
    String goneWithout = client.mint("user").text("/id");
    client.post("/v1/ids/" + hiddenAndGone + "/revoke", "{}");
    client.post("/v1/ids/" + goneWithout + "/revoke", "{}");

    List<Map<String, Object>> answers =
        Stream.of(
                hidden,
                without,
                hiddenAndGone,
                goneWithout,
                UNKNOWN_ID,
                "ch_x",
                "zz_00000000000000000000002C",
                "%20")
            .map(id -> client.anonymous().hostile().get("/r/" + id))
            .map(Reply::nameless)
            .toList();

    assertThat(answers).allMatch(answers.getFirst()::equals);
    assertThat(client.anonymous().head("/r/" + hidden).status()).isEqualTo(404);
  }

  @Test
  void aFileThatTheClientHasIsNotSentAgain() throws IOException {
    for (String path :
        List.of("/openapi.yaml", "/docs", "/docs/errors", "/docs/assets/swagger-ui-bundle.js")) {
      Reply first = client.anonymous().get(path);
      Reply again = client.anonymous().with("If-None-Match", first.header("etag")).get(path);
      RawHttp.Reply compressed =
          GATEWAY.raw("GET " + path, new byte[0], false, "Accept-Encoding: br, gzip");

      assertThat(first.header("cache-control")).isEqualTo("public, max-age=300");
      assertThat(again.status()).isEqualTo(304);
      assertThat(again.header("etag")).isEqualTo(first.header("etag"));
      assertThat(compressed.headers().get("Content-Encoding")).containsExactly("gzip");
      assertThat(compressed.headers().get("ETag")).doesNotContain(first.header("etag"));
      assertThat(compressed.headers().get("Vary")).containsExactly("Accept-Encoding");
    }
    assertProblem(client.anonymous().put("/docs", "{}"), "405 method_not_allowed");
  }

  @Test
  void operationsAndDocsAreOpen() {
    TestClient anyone = client.anonymous();

    assertThat(anyone.get("/health/live").text("/status")).isEqualTo("ok");
    assertThat(anyone.get("/health/ready").text("/status")).isEqualTo("ok");
    assertThat(anyone.get("/openapi.yaml").body().stringValue()).isEqualTo(Contract.text());
    assertThat(anyone.get("/docs").body().stringValue()).startsWith("<!doctype html>");
    assertThat(anyone.get("/docs/errors").body().stringValue()).startsWith("<!doctype html>");
    assertThat(anyone.get("/docs/assets/swagger-ui.css").status()).isEqualTo(200);
    assertThat(anyone.get("/docs/assets/nothing.js").status()).isEqualTo(404);
    assertThat(anyone.hostile().get("/docs/assets/%252e").status()).isEqualTo(400);
  }

  @Test
  void anEmptyListOfItemsBesideACountIsLeftOut() {
    Reply minted =
        client.post("/v1/ids/batch", json("type", "user", "count", 2, "items", List.of()));

    assertThat(minted.body().at("/data").findValuesAsString("id")).hasSize(2);
    assertProblem(
        client.hostile().post("/v1/ids/batch", json("items", List.of())),
        "400 field_invalid items");
  }

  @Test
  void anAliasOfAnotherThingIs409() {
    client.mint("minted", "key", "200", "legacy_id", "200");

    Reply other = client.mint("minted", "key", "201", "legacy_id", "200");

    assertProblem(other, "409 alias_conflict legacy_id");
    assertThat(client.get("/v1/types/minted/keys/201").status()).isEqualTo(404);
  }

  @Test
  void theKeyAndTheAliasOfAnEndedIdAreNeverGivenToAnother() {
    String mint = json("type", "minted", "key", "300", "legacy_id", "300");
    String id = client.post("/v1/ids", mint).text("/id");
    client.post("/v1/ids/" + id + "/revoke", "{}");

    assertProblem(client.post("/v1/ids", mint), "409 id_ended");
    assertProblem(client.mint("minted", "key", "300"), "409 id_ended");
    assertProblem(client.mint("minted", "legacy_id", "300"), "409 id_ended");
    assertProblem(
        client.send("PUT", "/v1/ids/" + id + "/aliases/legacy/301", null), "409 id_ended id");
    Reply batch =
        client.post(
            "/v1/ids/batch", json("items", List.of(Map.of("type", "minted", "key", "300"))));
    assertThat(batch.text("/data/0/error/code")).isEqualTo("id_ended");
  }

  @Test
  void furtherNamesAreAddedOnceAndForEver() {
    String id = client.mint("older").text("/id");
    String other = client.mint("older").text("/id");
    String path = "/aliases/public/ord-17";

    Reply added = client.send("PUT", "/v1/ids/" + id + path, null);
    assertThat(added.status()).isEqualTo(201);
    assertThat(added.text("/public_id/id")).isEqualTo(id);
    assertThat(client.send("PUT", "/v1/ids/" + id + path, null).status()).isEqualTo(200);
    assertThat(client.hostile().get("/v1/ids/ord-18").status()).isEqualTo(404);
    assertProblem(client.send("PUT", "/v1/ids/" + other + path, null), "409 alias_conflict value");
    assertProblem(
        client.send("PUT", "/v1/ids/or_00000000000000000000002B" + path, null),
        "400 public_id_malformed id");
    assertProblem(
        client.send("PUT", "/v1/ids/" + TestClient.UNKNOWN_ID + "/aliases/legacy/1", null),
        "404 public_id_unknown id");
  }

  @Test
  void publicIdsOfAnOlderSystemAreAcceptedWhereOursAre() {
    String id = client.mint("older").text("/id");
    client.send("PUT", "/v1/ids/" + id + "/aliases/public/ord-99", null);

    assertThat(client.hostile().send("GET", "/v1/ids/ord-99", null).status()).isEqualTo(200);
    Reply batch = client.post("/v1/ids/resolve", json("ids", List.of("ord-99", id, "ord-1")));
    assertThat(batch.text("/data/0/public_id/id")).isEqualTo(id);
    assertThat(batch.text("/data/1/public_id/id")).isEqualTo(id);
    assertThat(batch.text("/data/2/error/code")).isEqualTo("public_id_unknown");
    assertThat(client.anonymous().get("/r/ord-99").header("location"))
        .isEqualTo("https://shop.example/" + id);
    assertThat(client.hostile().get("/v1/ids/invoice-1").status()).isEqualTo(400);
  }

  @ParameterizedTest
  @CsvSource({
    "legacy, 0",
    "legacy, 007",
    "legacy, 9223372036854775808",
    "client, 0b0fdb0d6d9a4b579c764b1d6e4f2a10",
    "public, invoice-1"
  })
  void aNameInAnotherSpellingIs400(String scheme, String value) {
    String id = client.mint("older").text("/id");

    assertProblem(
        client.hostile().send("PUT", "/v1/ids/" + id + "/aliases/" + scheme + "/" + value, null),
        "400 alias_malformed value");
    assertProblem(
        client.hostile().send("PUT", "/v1/ids/" + id + "/aliases/key/1", null),
        "400 parameter_invalid scheme");
  }

  /** Another transaction has written the key and hasn't committed: how it ends is not known. */
  @Test
  void aKeyThatIsBeingWrittenIs409AndNothingIsDone() {
    try (TestSession other =
        GATEWAY
            .sql()
            .begin(
                """
                insert into coatcheck.public_id (key, token, type_id, bucket)
                select 700, gen_random_uuid(), type_id, coatcheck.bucket_of_key(salt, 700::bigint)
                from coatcheck.type where name = 'minted'
                """)) {
      Reply busy = client.refused("busy", once -> once.mint("minted", "key", "700"));
      assertProblem(busy, "409 busy");
      assertThat(busy.header("retry-after")).isEqualTo("1");
      String batch =
          json("items", List.of(Map.of("type", "minted", "key", "700"), Map.of("type", "minted")));
      assertProblem(client.refused("busy", once -> once.post("/v1/ids/batch", batch)), "409 busy");
      other.rollback();
    }
    assertThat(client.mint("minted", "key", "700").status()).isEqualTo(201);
  }

  private static Reply put(String name, String prefix, String key, @Nullable String redirect) {
    TestType type = TestType.of(name, prefix).with("key", key);
    return client.put(redirect == null ? type : type.and("{\"redirect\":%s}".formatted(redirect)));
  }
}
