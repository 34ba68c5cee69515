package dev.coatcheck.api.console.overview;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.console.ConsoleClient.Page;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(60) // for streams that say nothing
class OverviewPageTest {
  /** One of its own: the shared gateway tells of itself before each class only. */
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.own();

  private static final String PATH = "/console/overview";
  private static final String STREAM = "/console/events/overview";

  private final ConsoleClient browser =
      ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.METRICS_READ));

  @BeforeEach
  void told() {
    Awaitility.await().until(() -> GATEWAY.count("select count(*) from coatcheck.instance") > 0);
    GATEWAY.execute("delete from coatcheck.instance where holder like 'other%'");
  }

  private static void tell(String holder, String version, String unseen) {
    GATEWAY.execute(
        """
        insert into coatcheck.instance
          (holder, version, address, started_at, seen_at, feed_silent_ms)
        values ($x$%s$x$, $x$%s$x$, 'http://10.0.0.2:8080', now(), now() - interval '%s', 0)\
        """
            .formatted(holder, version, unseen));
  }

  @Test
  void instancesAreListedWithWhatTheySaidOfThemselves() {
    tell("other/7", "9.9.9", "3 s");

    String html = browser.get(PATH).html();

    assertThat(html)
        .contains("<code>other/7</code>", "9.9.9", "http://10.0.0.2:8080", "this one")
        .contains(GATEWAY.uri().toString().replaceAll("/$", ""))
        .contains("Nothing is wrong.");
  }

  @Test
  void anInstanceThatFellSilentIsAConcern() {
    tell("other/8", "1", "100 s");

    assertThat(browser.get(PATH).html())
        .contains("Instance other/8 is no longer heard.", "1 min 4")
        .doesNotContain("Nothing is wrong.");
  }

  @Test
  void eachMeasureOfTheLastHourHasAChart() {
    assertThat(browser.get(PATH).html())
        .contains("Requests a second", "Their 99th percentile, ms", "Connections to Postgres");
  }

  @Test
  void thePageMoves() throws Exception {
    assertThat(browser.get(PATH).html()).contains("data-live=\"" + STREAM + "\"");
    try (HttpClient http = HttpClient.newHttpClient();
        BufferedReader lines = stream(http, browser)) {
      assertThat(lines.readLine()).startsWith("retry:");
      tell("other/9", "1", "100 s");
      requireLine(lines, "other/9 is no longer heard");
    }
  }

  @Test
  void aPageEndsWithTheRightsThatItNeeds() throws Exception {
    String key = GATEWAY.keyWith(Scope.METRICS_READ);
    GATEWAY.client().put(TestType.of("parcel", "pcl"));
    try (HttpClient http = HttpClient.newHttpClient();
        BufferedReader lines = stream(http, ConsoleClient.signedIn(GATEWAY, key))) {
      requireLine(lines, "data:");
      GATEWAY
          .client()
          .patch("/v1/access/keys/key_" + key.substring(9, 21), json("types", List.of("parcel")));
      requireLine(lines, "event: reload");
    }
  }

  private static BufferedReader stream(HttpClient http, ConsoleClient browser) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(GATEWAY.uri().resolve(STREAM))
            .header("Cookie", "__Host-coatcheck=" + browser.cookie())
            .build();
    return new BufferedReader(
        new InputStreamReader(
            http.send(request, BodyHandlers.ofInputStream()).body(), StandardCharsets.UTF_8));
  }

  private static void requireLine(BufferedReader lines, String words) {
    assertThat(lines.lines().filter(line -> line.contains(words)).findFirst()).isPresent();
  }

  @Test
  void aStreamOfAPageThatMayNoLongerBeSeenLoadsThePageAgain() {
    ConsoleClient other = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.IDS_READ));
    for (ConsoleClient client : List.of(new ConsoleClient(GATEWAY.uri()), other)) {
      Page stream = client.get(STREAM);
      assertThat(stream.status()).isEqualTo(200);
      assertThat(stream.header("content-type")).contains("text/event-stream");
      assertThat(stream.html()).isEqualTo("event: reload\ndata: \n\n");
    }
  }

  @Test
  void onlyThoseWhoMayReadTheMetricsOfAllTypesSeeIt() {
    ConsoleClient other = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.IDS_READ));
    assertThat(other.get(PATH).status()).isEqualTo(403);
    assertThat(other.get("/console").html()).doesNotContain(PATH);

    String limited = GATEWAY.keyWith(Scope.METRICS_READ, "parcel");
    assertThat(ConsoleClient.signedIn(GATEWAY, limited).get(PATH).status()).isEqualTo(403);
    assertThat(new ConsoleClient(GATEWAY.uri()).get(PATH).location())
        .isEqualTo("/console/sign-in?next=%2Fconsole%2Foverview");
  }

  @Test
  void whatAnInstanceSaysOfItselfComesBackAsText() {
    tell("other/<script>alert(1)</script>", "<b>1</b>", "100 s");

    assertThat(browser.get(PATH).html())
        .doesNotContain("<script>", "<b>1</b>")
        .contains("other/&lt;script&gt;");
  }
}
