package dev.coatcheck.api.console.overview;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.ids.access.Scope;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class OverviewPageTest {
  /** One of its own: the shared gateway tells of itself before each class only. */
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.own();

  private static final String PATH = "/console/overview";

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
        .contains("Instance other/8 was last heard 1 min 4")
        .doesNotContain("Nothing is wrong.");
  }

  @Test
  void eachMeasureOfTheLastHourHasAChart() {
    assertThat(browser.get(PATH).html())
        .contains("Requests a second", "Their 99th percentile, ms", "Connections to Postgres");
  }

  @Test
  void onlyThoseWhoMayReadTheMetricsOfAllTypesSeeIt() {
    ConsoleClient other = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.IDS_READ));
    assertThat(other.get(PATH).status()).isEqualTo(403);
    assertThat(other.get("/console").html()).doesNotContain(PATH);

    String limited = GATEWAY.keyWith(Scope.METRICS_READ);
    GATEWAY.execute(
        "update coatcheck.api_key set types = '{parcel}' where key_id = '%s'"
            .formatted(limited.substring(9, 21)));
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
