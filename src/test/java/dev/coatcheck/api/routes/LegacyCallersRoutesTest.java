package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Who still sends legacy IDs, over HTTP. */
class LegacyCallersRoutesTest {
  private static final String HOSTILE = "\"><script>alert(1)</script>, \\u0000 ' or 1=1 --";

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static TestClient client;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    put(client, "item");
  }

  private static void put(TestClient client, String type) {
    client.put(
        TestType.of(type, type)
            .redirect("https://shop.example/{id}")
            .with("legacy", Map.of())
            .with("url_templates", List.of("/" + type + "s/{legacy:" + type + "}")));
    client.mint(type, "legacy_id", "7");
    client.mint(type, "legacy_id", "8");
  }

  private static JsonNode callers(TestClient client, String type, String kind) {
    return client
        .get("/v1/types/" + type + "/legacy-callers?kind=" + kind)
        .body()
        .at("/data/0/callers");
  }

  private static List<String> texts(JsonNode callers) {
    List<String> texts = new ArrayList<>();
    callers.forEach(
        each -> texts.add(each.path("caller").asString() + " " + each.path("count").asLong()));
    return texts;
  }

  /** They are asked for at an instance that stops, and read at another one. */
  @Test
  void everyWayToALegacyIdCountsItsCallerAndAnOrderlyStopWritesTheLastCounts() {
    String own;
    try (GatewayFixture stopping =
        GatewayFixture.on(GATEWAY.database, "COATCHECK_TRUSTED_PROXIES", "127.0.0.0/8")) {
      own = "key_" + stopping.key().substring(9, 21);
      lookUpSevenTimes(stopping.client());
    }

    assertThat(client.get("/v1/types/item/legacy-callers").body().at("/data/0/count").asLong())
        .isEqualTo(7);
    assertThat(texts(callers(client, "item", "api_key"))).containsExactly(own + " 6", "(none) 1");
    assertThat(texts(callers(client, "item", "user_agent")))
        .containsExactly(HOSTILE + " 6", "Browser/1.0 1");
    assertThat(texts(callers(client, "item", "referring_host")))
        .containsExactly("(none) 6", "blog.example 1");
    assertThat(texts(callers(client, "item", "address_range")))
        .containsExactly("127.0.0.0/24 5", "198.51.100.0/24 1", "2001:db8:5::/48 1");
    Reply all = client.get("/v1/types/item/legacy-callers?limit=1");
    assertThat(all.body().path("data")).hasSize(4);
    assertThat(all.body().at("/data/0/callers")).hasSize(1);
    assertThat(all.body().at("/data/0/callers/0/share").asDouble()).isEqualTo(0.8571);
    assertThat(all.body().at("/data/0/callers/0/error").asLong()).isZero();
  }

  private static void lookUpSevenTimes(TestClient client) {
    TestClient app = client.with("User-Agent", HOSTILE);
    TestClient visitor =
        client
            .anonymous()
            .with("X-Forwarded-For", "198.51.100.77")
            .with("User-Agent", "Browser/1.0")
            .with("Referer", "https://Blog.example/a?b=1");
    assertThat(visitor.get("/legacy/item/7").status()).isEqualTo(308);
    assertThat(visitor.get("/legacy/item/9").status()).isEqualTo(404);
    assertThat(app.get("/v1/legacy/item/7").status()).isEqualTo(200);
    assertThat(
            app.post(
                    "/v1/legacy/resolve",
                    json("type", "item", "legacy_ids", List.of("7", "8", "9", "7")))
                .status())
        .isEqualTo(200);
    assertThat(app.resolveUrl("/items/7").status()).isEqualTo(200);
    assertThat(
            app.with("X-Original-URI", "/items/7")
                .with("X-Forwarded-For", "2001:db8:5::1")
                .get("/v1/urls/auth-request")
                .status())
        .isEqualTo(200);
  }

  @Test
  void aQueryThatIsNoneIsRefused() {
    for (String query :
        List.of(
            "kind=name",
            "kind=API_KEY",
            "limit=0",
            "limit=101",
            "from=yesterday",
            "from=2020-01-02&to=2020-01-01",
            "from=2020-01-01&to=2021-01-01")) {
      assertThat(client.hostile().get("/v1/types/item/legacy-callers?" + query).status())
          .as(query)
          .isEqualTo(400);
    }
    assertProblem(client.get("/v1/types/nothing/legacy-callers"), "404 type_unknown name");
    assertThat(GATEWAY.clientWith(Scope.IDS_READ).get("/v1/types/item/legacy-callers").status())
        .isEqualTo(403);
    JsonNode none =
        client.get("/v1/types/item/legacy-callers?from=2020-01-01&to=2020-12-31").body();
    assertThat(none.path("data")).hasSize(4);
    assertThat(none.at("/data/3/kind").asString()).isEqualTo("address_range");
    assertThat(none.at("/data/3/count").asLong()).isZero();
    assertThat(none.at("/data/3/callers")).isEmpty();
  }
}
