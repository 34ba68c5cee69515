package dev.coatcheck.spring.starters;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.client.GatewayRequest;
import dev.coatcheck.client.MintRequest;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import dev.coatcheck.spring.starters.ShopApplication.Charge;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * An application with the starter, over HTTP, with the gateway that {@code COATCHECK_URL} and
 * {@code COATCHECK_API_KEY} name. {@code ./mvnw verify -Pclients} starts one.
 */
class StarterTest {
  private static final String UNKNOWN = "spch_0000000000000000000000";
  private static final AtomicLong KEYS = new AtomicLong(System.currentTimeMillis() << 20);
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private static ConfigurableApplicationContext shop;
  private static CoatcheckClient client;

  @BeforeAll
  static void start() {
    assumeTrue(System.getenv("COATCHECK_URL") != null, "COATCHECK_URL names no gateway");
    shop = run();
    client = shop.getBean(CoatcheckClient.class);
    GatewayRequest type =
        GatewayRequest.of("PUT", "/v1/types/spring_charge")
            .withBody(
                "application/json",
                "{\"prefix\":\"spch\",\"key\":\"bigint\",\"generate\":\"none\"}".getBytes(UTF_8));
    assertThat(client.call(type).status()).isIn(200, 201);
  }

  @AfterAll
  static void stop() {
    if (shop != null) {
      shop.close();
    }
  }

  @Test
  void aPublicIdIsAnArgumentWithoutAnnotation() throws Exception {
    String id = mint(KEYS.incrementAndGet());

    assertThat(get("/charges/" + id).body()).isEqualTo("{\"id\":\"%s\"}".formatted(id));
    assertThat(get("/search?id=" + id).body()).isEqualTo("{\"id\":\"%s\"}".formatted(id));
    assertProblem(get("/search"), 400, "");
  }

  @Test
  void aPublicIdIsAPathVariableAndARequestParameter() throws Exception {
    String id = mint(KEYS.incrementAndGet());

    assertThat(get("/annotated/" + id + "?other=" + id).body())
        .isEqualTo("{\"id\":\"%s %s\"}".formatted(id, id));
    assertProblem(get("/annotated/" + id + "?other=" + id + "x"), 400, "public_id_malformed");
  }

  @Test
  void aWrongTextIs400WithItsReason() throws Exception {
    String id = mint(KEYS.incrementAndGet());
    String typo = id.substring(0, id.length() - 1) + (id.endsWith("A") ? "B" : "A");

    HttpResponse<String> answer = get("/charges/" + typo);

    assertProblem(answer, 400, "public_id_malformed");
    assertThat(answer.body()).contains("\"reason\":\"check\"");
  }

  @Test
  void anotherTypeIs400OrBySetting404() throws Exception {
    String other = "sk_live_4KIWSf8WvPNoQDBwStVIDYGM";

    assertProblem(get("/charges/" + other), 400, "public_id_wrong_type");
    assertProblem(get("/rows/" + other), 400, "public_id_wrong_type");
    try (ConfigurableApplicationContext strict = run("--coatcheck.wrong-type=not-found")) {
      assertProblem(get(strict, "/charges/" + other), 404, "public_id_unknown");
    }
  }

  @Test
  void anUnknownPublicIdIs404AndAnEndedOne410() throws Exception {
    long key = KEYS.incrementAndGet();
    PublicId<Charge> id = PublicId.of(Charge.class, mint(key));
    assertThat(get("/rows/" + id).body())
        .isEqualTo("{\"id\":\"%s\",\"cents\":%d}".formatted(id, key));

    client.revoke(id, "a test");

    assertProblem(get("/rows/" + id), 410, "public_id_revoked");
    assertProblem(get("/rows/" + checked(UNKNOWN)), 404, "public_id_unknown");
  }

  @Test
  void jsonHasPublicIdsInAndOut() throws Exception {
    String json = "{\"charge\":\"%s\",\"cents\":250}".formatted(mint(KEYS.incrementAndGet()));

    assertThat(post("/refunds", json).body()).isEqualTo(json);
    assertProblem(
        post("/refunds", "{\"charge\":\"sk_live_4KIWSf8WvPNoQDBwStVIDYGM\",\"cents\":1}"),
        400,
        "public_id_wrong_type");
    assertThat(post("/refunds", "{\"charge\":").statusCode()).isEqualTo(400);
  }

  @Test
  void fiveHundredRowsCostOneCall() throws Exception {
    long first = KEYS.addAndGet(1000) - 500;
    client.mintAll(
        LongStream.range(first, first + 500)
            .mapToObj(key -> MintRequest.of(Key.of(Charge.class, key)))
            .toList());
    ShopApplication.CALLS.clear();

    String body = get("/rows?first=" + first + "&count=500").body();

    assertThat(ShopApplication.CALLS).isEqualTo(List.of("lookupBatch"));
    assertThat(body.split("spch_")).hasSize(501);
    assertThat(body).startsWith("[{\"id\":\"" + mint(first) + "\"");
  }

  @Test
  void aKeyWithoutPublicIdIsAnErrorOrBySettingMinted() throws Exception {
    long key = KEYS.addAndGet(1000);

    assertThat(get("/rows?count=1&first=" + key).statusCode()).isEqualTo(500);
    try (ConfigurableApplicationContext minting = run("--coatcheck.keys=mint")) {
      assertThat(get(minting, "/rows?count=1&first=" + key).body()).contains("\"spch_");
    }
  }

  @Test
  void theGatewayIsPartOfTheHealth() throws Exception {
    assertThat(get("/actuator/health").body()).contains("\"coatcheck\":{", "\"status\":\"UP\"");
  }

  @Test
  void aGatewayThatIsGoneIs503AndUnhealthy() throws Exception {
    String id = mint(KEYS.incrementAndGet());
    try (ConfigurableApplicationContext alone =
        run("--coatcheck.url=http://127.0.0.1:9", "--coatcheck.deadline=200ms")) {
      HttpResponse<String> answer = get(alone, "/rows/" + id);

      assertProblem(answer, 503, "public_ids_unavailable");
      assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
      assertThat(get(alone, "/actuator/health").statusCode()).isEqualTo(503);
    }
  }

  private static ConfigurableApplicationContext run(String... settings) {
    List<String> all = new ArrayList<>();
    all.add("--server.port=0");
    all.add("--server.address=127.0.0.1");
    all.add("--spring.main.banner-mode=off");
    all.add("--management.endpoint.health.show-details=always");
    all.addAll(List.of(settings));
    return SpringApplication.run(ShopApplication.class, all.toArray(String[]::new));
  }

  private static String mint(long key) {
    return client.mint(MintRequest.of(Key.of(Charge.class, key))).mapping().id().toString();
  }

  /** A public ID that nobody minted: the number 0 with its check characters. */
  private static String checked(String payload) {
    for (int check = 0; check < 3844; check++) {
      String alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
      String text = payload + alphabet.charAt(check / 62) + alphabet.charAt(check % 62);
      if (PublicId.prefixOf(text).isPresent()) {
        return text;
      }
    }
    throw new AssertionError(payload);
  }

  private static HttpResponse<String> get(String path) throws Exception {
    return get(shop, path);
  }

  private static HttpResponse<String> get(ConfigurableApplicationContext at, String path)
      throws IOException, InterruptedException {
    return HTTP.send(
        HttpRequest.newBuilder(uri(at, path)).build(), HttpResponse.BodyHandlers.ofString());
  }

  private static HttpResponse<String> post(String path, String json) throws Exception {
    return HTTP.send(
        HttpRequest.newBuilder(uri(shop, path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static URI uri(ConfigurableApplicationContext at, String path) {
    return URI.create(
        "http://127.0.0.1:" + at.getEnvironment().getProperty("local.server.port") + path);
  }

  private static void assertProblem(HttpResponse<String> answer, int status, String code) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    if (!code.isEmpty()) {
      assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
      assertThat(answer.body()).contains("\"code\":\"" + code + "\"");
    }
  }
}
