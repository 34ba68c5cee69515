package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class InspectRoutesTest {
  private static final long SEED = Long.getLong("seed", System.nanoTime());

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();

  @Test
  void aPublicIdOfOursHasItsType() {
    CLIENT.put("/v1/types/charge", json("prefix", "ch", "key", "bigint"));
    String id = CLIENT.post("/v1/ids", json("type", "charge", "key", "42")).text("/id");

    Reply reply = inspect(id);

    assertThat(reply.text("/candidates/0/format")).isEqualTo("public_id");
    assertThat(reply.text("/candidates/0/type")).isEqualTo("charge");
    assertThat(reply.text("/candidates/0/certainty")).isEqualTo("certain");
    assertThat(reply.body().at("/candidates/0/reveals")).isEmpty();
    assertThat(inspect("' or 1=1 日本").body().at("/candidates")).isEmpty();
    Reply mistyped = inspect(id.substring(0, id.length() - 1) + (id.endsWith("x") ? "y" : "x"));
    assertThat(mistyped.body().at("/candidates")).isEmpty();
    assertThat(mistyped.text("/refused/0/reason")).isEqualTo("check");
  }

  @Test
  void aLayoutOfATypeIsAmongTheCandidatesOfItsKeys() {
    CLIENT.put(
        "/v1/types/visit",
        json("prefix", "vis", "key", "bigint", "layout", "42/9/12@1577836800000"));
    String key =
        CLIENT
            .post(
                "/v1/keys",
                json("scheme", "snowflake", "layout", "42/9/12@1577836800000", "count", 1))
            .text("/keys/0");

    assertThat(inspect(key).body().at("/candidates").valueStream())
        .anyMatch(
            candidate ->
                candidate.path("format").asString().equals("snowflake.42/9/12@1577836800000"));
  }

  @Test
  void timesAndFieldsAreThere() {
    Reply reply = inspect("175928847299117063");

    assertThat(reply.body().at("/candidates").valueStream())
        .anySatisfy(
            candidate -> {
              assertThat(candidate.path("format").asString()).isEqualTo("snowflake.discord");
              assertThat(candidate.path("time").asString()).isEqualTo("2016-04-30T11:18:25.796Z");
              assertThat(candidate.at("/fields/increment").asInt()).isEqualTo(7);
              assertThat(candidate.at("/fields/bucket").asInt()).isEqualTo(48);
            });
  }

  /** Any bytes, percent-encoded: an answer of this operation, or a refusal of the path. */
  @Test
  void noBytesMakeItFail() {
    Random random = new Random(SEED);
    for (int i = 0; i < 300; i++) {
      // The judge of the contract takes a path of nothing but control characters for an empty path.
      StringBuilder path = new StringBuilder("x");
      for (int length = 1 + random.nextInt(40); length > 0; length--) {
        path.append("%%%02x".formatted(random.nextInt(256)));
      }
      assertThat(CLIENT.hostile().get("/v1/inspect/" + path).status())
          .as("-Dseed=%d %s", SEED, path)
          .isIn(200, 400);
    }
  }

  private static Reply inspect(String text) {
    Reply reply =
        CLIENT.get(
            "/v1/inspect/" + URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20"));
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.text("/input")).isEqualTo(text);
    return reply;
  }
}
