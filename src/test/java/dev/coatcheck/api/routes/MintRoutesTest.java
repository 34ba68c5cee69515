package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MintRoutesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();

  @BeforeAll
  static void start() {
    CLIENT.put(TestType.of("charge", "ch"));
    CLIENT.put(
        TestType.of("order", "or")
            .with("public_pattern", TestType.pattern("ord-", "0123456789", 1, 20))
            .redirect("https://shop.example/{id}"));
  }

  @Test
  void anAliasOfAnotherThingIs409() {
    CLIENT.mint("charge", "key", "200", "legacy_id", "200");

    Reply other = CLIENT.mint("charge", "key", "201", "legacy_id", "200");

    assertProblem(other, 409, "alias_conflict", "legacy_id");
    assertThat(CLIENT.get("/v1/types/charge/keys/201").status()).isEqualTo(404);
  }

  @Test
  void theKeyAndTheAliasOfAnEndedIdAreNeverGivenToAnother() {
    String mint = json("type", "charge", "key", "300", "legacy_id", "300");
    String id = CLIENT.post("/v1/ids", mint).text("/id");
    CLIENT.post("/v1/ids/" + id + "/revoke", "{}");

    assertProblem(CLIENT.post("/v1/ids", mint), 409, "id_ended", null);
    assertProblem(CLIENT.mint("charge", "key", "300"), 409, "id_ended", null);
    assertProblem(CLIENT.mint("charge", "legacy_id", "300"), 409, "id_ended", null);
    assertProblem(
        CLIENT.send("PUT", "/v1/ids/" + id + "/aliases/legacy/301", null), 409, "id_ended", "id");
    Reply batch =
        CLIENT.post(
            "/v1/ids/batch", json("items", List.of(Map.of("type", "charge", "key", "300"))));
    assertThat(batch.text("/data/0/error/code")).isEqualTo("id_ended");
  }

  @Test
  void furtherNamesAreAddedOnceAndForEver() {
    String id = CLIENT.mint("order").text("/id");
    String other = CLIENT.mint("order").text("/id");
    String path = "/aliases/public/ord-17";

    Reply added = CLIENT.send("PUT", "/v1/ids/" + id + path, null);
    assertThat(added.status()).isEqualTo(201);
    assertThat(added.text("/public_id/id")).isEqualTo(id);
    assertThat(CLIENT.send("PUT", "/v1/ids/" + id + path, null).status()).isEqualTo(200);
    assertThat(CLIENT.hostile().get("/v1/ids/ord-18").status()).isEqualTo(404);
    assertProblem(
        CLIENT.send("PUT", "/v1/ids/" + other + path, null), 409, "alias_conflict", "value");
    assertProblem(
        CLIENT.send("PUT", "/v1/ids/or_00000000000000000000002B" + path, null),
        400,
        "public_id_malformed",
        "id");
    assertProblem(
        CLIENT.send("PUT", "/v1/ids/" + TestClient.UNKNOWN_ID + "/aliases/legacy/1", null),
        404,
        "public_id_unknown",
        "id");
  }

  @Test
  void publicIdsOfAnOlderSystemAreAcceptedWhereOursAre() {
    String id = CLIENT.mint("order").text("/id");
    CLIENT.send("PUT", "/v1/ids/" + id + "/aliases/public/ord-99", null);

    assertThat(CLIENT.hostile().send("GET", "/v1/ids/ord-99", null).status()).isEqualTo(200);
    Reply batch = CLIENT.post("/v1/ids/resolve", json("ids", List.of("ord-99", id, "ord-1")));
    assertThat(batch.text("/data/0/public_id/id")).isEqualTo(id);
    assertThat(batch.text("/data/1/public_id/id")).isEqualTo(id);
    assertThat(batch.text("/data/2/error/code")).isEqualTo("public_id_unknown");
    assertThat(CLIENT.anonymous().get("/r/ord-99").header("location"))
        .isEqualTo("https://shop.example/" + id);
    assertThat(CLIENT.hostile().get("/v1/ids/invoice-1").status()).isEqualTo(400);
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
    String id = CLIENT.mint("order").text("/id");

    assertProblem(
        CLIENT.hostile().send("PUT", "/v1/ids/" + id + "/aliases/" + scheme + "/" + value, null),
        400,
        "alias_malformed",
        "value");
    assertProblem(
        CLIENT.hostile().send("PUT", "/v1/ids/" + id + "/aliases/key/1", null),
        400,
        "parameter_invalid",
        "scheme");
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
                from coatcheck.type where name = 'charge'
                """)) {
      Reply busy = CLIENT.refused("busy", once -> once.mint("charge", "key", "700"));
      assertProblem(busy, 409, "busy", null);
      assertThat(busy.header("retry-after")).isEqualTo("1");
      String batch =
          json("items", List.of(Map.of("type", "charge", "key", "700"), Map.of("type", "charge")));
      assertProblem(
          CLIENT.refused("busy", once -> once.post("/v1/ids/batch", batch)), 409, "busy", null);
      other.rollback();
    }
    assertThat(CLIENT.mint("charge", "key", "700").status()).isEqualTo(201);
  }
}
