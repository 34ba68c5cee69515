package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.assertPut;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import java.util.Map;
import org.hashids.Hashids;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sqids.Sqids;

/** Only the exact text that an older system made is an older public ID, and it has one meaning. */
class StrictOlderIdsTest {
  private static final String SALT = "this is my salt";
  private static final Hashids HASHIDS = new Hashids(SALT, 8);
  private static final Sqids SQIDS = Sqids.builder().minLength(30).build();
  private static final String TYPEID = "user_01h455vb4pex5vsknk084sn02q";

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static TestClient client;
  private static TestClient anyone;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    anyone = client.anonymous();
    put(
        "invoice",
        Map.of("scheme", "hashids", "salt", SALT, "min_length", 8, "text_prefix", "inv-"));
    put("order", Map.of("scheme", "sqids", "min_length", 30));
    client.put(
        TestType.of("user", "usr")
            .uuids()
            .with("public_rule", Map.of("scheme", "typeid", "prefix", "user")));
    client.put(TestType.of("device", "dev").uuids().with("public_rule", Map.of("scheme", "uuid")));
    client.mint("invoice", "key", "42", "legacy_id", "7");
  }

  private static void put(String type, Map<String, Object> rule) {
    Reply put =
        client.put(
            TestType.of(type, type)
                .redirect("https://shop.example/" + type + "/{id}")
                .with("legacy", Map.of())
                .with("public_rule", rule)
                .with("url_templates", List.of("/" + type + "s/{legacy:" + type + "}")));
    assertPut(put);
  }

  /** A text of digits may be a number and an older public ID: then it is neither. */
  @Test
  void digitsThatAreBothAreRefusedWhereBothMayStand() {
    String text = "";
    Sqids digits = Sqids.builder().alphabet("0123456789").build();
    long number = 5;
    while (text.isEmpty() || text.startsWith("0")) {
      text = digits.encode(List.of(++number));
    }
    put("both", Map.of("scheme", "sqids", "alphabet", "0123456789"));
    client.mint("both", "key", "1", "legacy_id", Long.toString(number));
    client.mint("both", "key", "2", "legacy_id", text);

    assertThat(client.get("/v1/ids/" + text).text("/key")).isEqualTo("1");
    assertThat(client.get("/v1/legacy/both/" + text).text("/key")).isEqualTo("2");
    assertThat(anyone.get("/r/" + text).status()).isEqualTo(308);
    assertProblem(anyone.get("/legacy/both/" + text), 400, "legacy_id_malformed", "n");
    assertProblem(client.resolveUrl("/boths/" + text), 400, "legacy_id_malformed", "url");
    client.put(TestType.of("both", "both"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "inv-",
        "inv-gB0NV05",
        "inv-gB0NV05ee",
        "inv-GB0NV05E",
        "INV-gB0NV05e",
        "xinv-gB0NV05e",
        "inv-gB0NV05e%0A",
        "inv-gB0NV05e%20",
        "inv-%EF%BD%87B0NV05e",
        "inv-gB0NV05e.",
        "inv--",
        "user_01H455VB4PEX5VSKNK084SN02Q",
        "user_81h455vb4pex5vsknk084sn02q",
        "user_01h455vb4pex5vsknk084sn02",
        "user_01h455vb4pex5vsknk084sn02l",
        "user_",
        "01890A5D-AC96-774B-BCCE-B302099A8057",
        "01890a5dac96774bbcceb302099a8057",
        "{01890a5d-ac96-774b-bcce-b302099a8057}"
      })
  void whatIsNotExactlyTheTextIsMalformed(String text) {
    String sent = text.replace("{", "%7B").replace("}", "%7D");

    assertThat(client.hostile().get("/v1/ids/" + sent).status()).isEqualTo(400);
    assertThat(anyone.hostile().get("/r/" + sent).status()).isIn(400, 404);
    assertThat(anyone.hostile().get("/legacy/invoice/" + sent).status()).isEqualTo(400);
    assertThat(client.get("/v1/ids/inv-" + HASHIDS.encode(7)).text("/key")).isEqualTo("42");
  }

  /** Such a text looks like any other: the rule of a type says what it is. */
  @Test
  void theInspectorNamesWhatARuleDecodes() {
    Reply marked = client.get("/v1/inspect/inv-" + HASHIDS.encode(4_711));
    Reply bare = client.get("/v1/inspect/" + SQIDS.encode(List.of(4_711L)));

    assertThat(marked.text("/candidates/0/format")).isEqualTo("hashids");
    assertThat(marked.text("/candidates/0/certainty")).isEqualTo("certain");
    assertThat(marked.text("/candidates/0/type")).isEqualTo("invoice");
    assertThat(marked.text("/candidates/0/fields/number")).isEqualTo("4711");
    assertThat(marked.text("/candidates/0/reveals/0")).isEqualTo("volume");
    assertThat(bare.text("/candidates/0/format")).isEqualTo("sqids");
    assertThat(bare.text("/candidates/0/certainty")).isEqualTo("likely");
    assertThat(bare.text("/candidates/0/type")).isEqualTo("order");
    for (String text : List.of("inv-new", HASHIDS.encode(7), "inv-" + HASHIDS.encode(7, 7))) {
      assertThat(client.get("/v1/inspect/" + text).body().get("candidates").toString())
          .doesNotContain("hashids", "sqids");
    }
    assertThat(client.get("/v1/inspect/" + TYPEID).text("/candidates/0/format"))
        .isEqualTo("typeid");
  }

  /** Legacy IDs begin at 1, so the text of 0 is none, though the libraries make it. */
  @Test
  void theTextOfZeroAndOfSeveralNumbersIsMalformed() {
    for (String text :
        List.of(
            "inv-" + HASHIDS.encode(0),
            "inv-" + HASHIDS.encode(7, 7),
            SQIDS.encode(List.of(0L)),
            SQIDS.encode(List.of(7L, 7L)))) {
      assertProblem(client.get("/v1/ids/" + text), 400, "public_id_malformed", "id");
    }
  }
}
