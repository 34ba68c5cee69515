package shop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.client.CallListener;
import dev.coatcheck.client.CoatcheckClient;
import dev.coatcheck.client.GatewayRequest;
import dev.coatcheck.client.MintRequest;
import dev.coatcheck.client.MintResult;
import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;

/** The shop over HTTP, with a gateway and a Postgres that the environment names. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class ShopTest {
  private static final AtomicInteger CALLS = new AtomicInteger();
  private static final CoatcheckClient OUTSIDE =
      CoatcheckClient.builder(URI.create(System.getenv("COATCHECK_URL")))
          .apiKey(System.getenv("COATCHECK_API_KEY"))
          .build();

  @TestConfiguration
  static class Counting {
    @Bean
    CallListener calls() {
      return (operation, status, tries, took) -> CALLS.incrementAndGet();
    }
  }

  @Value("${local.server.port}")
  private int port;

  @Autowired private Charges charges;

  private final HttpClient http = HttpClient.newHttpClient();

  @BeforeAll
  static void types() {
    put("customer", "cus");
    put("shop_charge", "shc");
  }

  private static void put(String name, String prefix) {
    String body = "{\"prefix\":\"%s\",\"key\":\"bigint\",\"generate\":\"snowflake\"}".formatted(prefix);
    GatewayRequest request =
        GatewayRequest.of("PUT", "/v1/types/" + name)
            .withBody("application/json", body.getBytes(StandardCharsets.UTF_8));
    assertThat(OUTSIDE.call(request).status())
        .as("a gateway without another type of this name")
        .isIn(200, 201);
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private HttpResponse<String> post(String path, String json)
      throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private String created(String path, String json) throws IOException, InterruptedException {
    HttpResponse<String> response = post(path, json);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(201);
    Matcher id = Pattern.compile("\"id\":\"([a-z]+_[0-9A-Za-z]{24})\"").matcher(response.body());
    assertThat(id.find()).as(response.body()).isTrue();
    return id.group(1);
  }

  private String customer() throws IOException, InterruptedException {
    return created("/customers", "{\"name\":\"Ada\"}");
  }

  private String charge(String customer) throws IOException, InterruptedException {
    return created("/charges", "{\"customer\":\"%s\",\"cents\":250}".formatted(customer));
  }

  @Test
  void aChargeIsReadByThePublicIdThatWasMintedForIt() throws Exception {
    String customer = customer();
    String charge = charge(customer);

    HttpResponse<String> read = get("/charges/" + charge);

    assertThat(read.statusCode()).isEqualTo(200);
    assertThat(read.body())
        .isEqualTo("{\"id\":\"%s\",\"customer\":\"%s\",\"cents\":250}".formatted(charge, customer));
  }

  @Test
  void thePublicIdOfAnotherTypeIsRefused() throws Exception {
    String customer = customer();
    HttpResponse<String> inPath = get("/charges/" + customer);
    assertThat(inPath.statusCode()).isEqualTo(400);
    assertThat(inPath.headers().firstValue("Content-Type")).contains("application/problem+json");

    String charge = charge(customer);
    assertThat(post("/charges", "{\"customer\":\"%s\",\"cents\":1}".formatted(charge)).statusCode())
        .isEqualTo(400);
    assertThat(get("/charges/shc_0000000000000000000000oC").statusCode()).as("a typo").isEqualTo(400);
    assertThat(get("/charges/shc_0000000000000000000000oU").statusCode()).isEqualTo(404);
  }

  @Test
  void aChargeThatOthersRevokeIsGoneWithinTwoSeconds() throws Exception {
    String charge = charge(customer());
    assertThat(get("/charges/" + charge).statusCode()).isEqualTo(200);

    OUTSIDE.revoke(PublicId.of(Charge.class, charge), "test");
    long revoked = System.nanoTime();
    long asked = revoked;
    long lastFound = revoked;
    while (get("/charges/" + charge).statusCode() == 200) {
      lastFound = asked; // when it was asked, because the machine may be slow to answer
      asked = System.nanoTime();
    }

    assertThat(Duration.ofNanos(lastFound - revoked)).isLessThan(Duration.ofSeconds(2));
    assertThat(get("/charges/" + charge).statusCode()).isEqualTo(410);
  }

  @Test
  void fiveHundredRowsCostOneCall() throws Exception {
    String customer = customer();
    Key<Customer> key = OUTSIDE.resolve(PublicId.of(Customer.class, customer)).key().orElseThrow();
    List<MintResult<Charge>> minted =
        OUTSIDE.mintAll(Collections.nCopies(500, MintRequest.of(Charge.class)));
    charges.saveAll(
        minted.stream()
            .map(each -> ((MintResult.Minted<Charge>) each).mapping().key())
            .map(id -> new Charge(id, key, 1))
            .toList());
    get("/charges?customer=" + customer()); // the names of the types are known from here on

    int before = CALLS.get();
    HttpResponse<String> page = get("/charges?customer=" + customer);

    assertThat(Pattern.compile("\"id\":\"shc_").matcher(page.body()).results()).hasSize(500);
    // The customer of the URL, all charges, and the customers in the rows, which are another type.
    assertThat(CALLS.get() - before).isLessThanOrEqualTo(3);
  }
}
