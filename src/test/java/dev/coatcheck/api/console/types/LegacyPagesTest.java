package dev.coatcheck.api.console.types;

import static dev.coatcheck.api.console.types.TypePagesTest.send;
import static dev.coatcheck.api.console.types.TypePagesTest.sendFrom;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.console.ConsoleClient.Page;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Legacy traffic in the console: hits, callers, sunset and brownouts. */
class LegacyPagesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final String PAGE = "/console/legacy/order";
  private static final String CANARY = "<script>alert(1)</script>\"'><img src=x>";

  private static TestClient client;
  private static ConsoleClient browser;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    browser = ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
    client.put(order());
    client.mint("order", "legacy_id", "4711");
  }

  @BeforeEach
  void withoutSunset() {
    client.put("/v1/types/order?confirm=links", order().body());
  }

  private static TestType order() {
    return TestType.of("order", "ord")
        .with("redirect", Map.of("template", "https://shop.example/o/{id}"))
        .with("legacy", Map.of());
  }

  private static void count(int daysAgo, int hits) {
    GATEWAY.execute(
        "insert into coatcheck.legacy_hit select %d, (now() at time zone 'utc')::date - %d, type_id from coatcheck.type where name = 'order' on conflict (type_id, day) do update set count = excluded.count"
            .formatted(hits, daysAgo));
  }

  private static String legacy() {
    return client.get("/v1/types/order").body().at("/legacy").toString();
  }

  @Test
  void hitsAreDrawnDayByDayWithTheSunset() {
    count(59, 40);
    count(20, 2_500);
    count(60, 9_999);
    client.put(
        order()
            .with(
                "legacy", Map.of("sunset_at", Instant.now().plus(Duration.ofDays(10)).toString())));

    for (String path : List.of("/console/legacy", PAGE)) {
      String html = browser.get(path).html();
      assertThat(html)
          .contains(
              "2,500 on the busiest day", "2,500 a day", "class=\"sunset\"", "the sunset is on")
          .doesNotContain("9,999");
      assertThat(Pattern.compile("class=\"bar-of-day\"").matcher(html).results().count())
          .isBetween(2L, 3L); // other tests may have counted today
    }
  }

  @Test
  void callersAreNamedWithTheirCountsAsText() {
    GATEWAY.execute(
        "with t as (select type_id from coatcheck.type where name = 'order'), s as (insert into"
            + " coatcheck.legacy_caller_sum select 1500, (now() at time zone 'utc')::date - 1,"
            + " kind, 0, type_id from t, unnest('{user_agent,referring_host}'::text[]) kind"
            + " returning *) insert into coatcheck.legacy_caller (type_id, day, kind, caller,"
            + " count, error) select type_id, day, kind, $x$"
            + CANARY
            + "$x$, 1200, 0 from s");

    Page page = browser.get(PAGE);

    assertThat(page.html())
        .contains(
            "User agents",
            "Referring hosts",
            "<td class=\"number\">1,200</td>",
            "<td class=\"number\">80 %</td>",
            "&lt;script&gt;alert(1)&lt;/script&gt;",
            "coatcheck types legacy-callers order")
        .doesNotContainIgnoringCase("<script>alert", "<img src=x", "\"'>");
  }

  @Test
  void emptyPagesSayHowToSwitchLegacyIdsOn() {
    client.put(TestType.of("parcel", "par"));
    assertThat(browser.get("/console/legacy/parcel").html())
        .contains("coatcheck types set parcel --legacy", "/console/types/parcel/edit");

    String key = GATEWAY.keyWith(Scope.TYPES_READ, "parcel");
    assertThat(ConsoleClient.signedIn(GATEWAY, key).get("/console/legacy").html())
        .contains("coatcheck types set TYPE --legacy")
        .doesNotContain("/console/legacy/order");
  }

  @Test
  void aSunsetIsSetAfterAWordAboutWhatFollows() {
    String path = PAGE + "/sunset";
    Page diff =
        send(
            browser,
            path,
            Map.of(
                "legacy.sunset_at", "2999-01-31T12:00:00Z",
                "legacy.sunset_link", "https://docs.example/sunset"));

    assertThat(diff.html())
        .contains(
            "From 2999-01-31T12:00:00Z on, each request with a legacy ID of order is answered 410",
            "header Sunset",
            "https://docs.example/sunset");
    assertThat(legacy()).contains("\"sunset_at\":null");

    Page done = sendFrom(browser, path, diff, Map.of("step", "confirm"));

    assertThat(done.status()).as(done.html()).isEqualTo(303);
    assertThat(done.location()).isEqualTo(PAGE);
    assertThat(legacy()).contains("\"sunset_at\":\"2999-01-31T12:00:00Z\"");
    assertThat(browser.get(PAGE).html()).contains("2999-01-31 12:00:00 UTC");
  }

  @Test
  void aSunsetInThePastEndsLinksAndSaysSo() {
    String path = PAGE + "/sunset";
    Page diff = send(browser, path, Map.of("legacy.sunset_at", "2026-01-31T12:00:00Z"));

    assertThat(diff.html())
        .contains(
            "Links end with this change", "After the sunset, links with legacy IDs answer 410");
    assertThat(sendFrom(browser, path, diff, Map.of("step", "confirm")).status()).isEqualTo(409);
    assertThat(legacy()).contains("\"sunset_at\":null");
  }

  @Test
  void aBrownoutOfTheFormAnswers503UntilItIsEnded() {
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    String path = PAGE + "/brownouts";
    Page diff =
        send(
            browser,
            path,
            Map.of(
                "from", now.minusSeconds(60).toString(), "to", now.plusSeconds(3_600).toString()));

    assertThat(diff.html())
        .contains("each request with a legacy ID of order is answered 503 with Retry-After");
    assertThat(client.get("/legacy/order/4711").status()).isEqualTo(308);

    assertThat(sendFrom(browser, path, diff, Map.of("step", "confirm")).status()).isEqualTo(303);

    assertThat(client.once().get("/legacy/order/4711").status()).isEqualTo(503);
    assertThat(browser.get(PAGE).html())
        .contains("in a brownout", "\"state\">now</td>", "End it now…");

    String end = path + "/" + now.minusSeconds(60).getEpochSecond() + "/end";
    Page ending = browser.get(end);
    assertThat(ending.html()).contains("ends as soon as you confirm", "<del>");
    assertThat(sendFrom(browser, end, ending, Map.of("step", "confirm")).status()).isEqualTo(303);

    Awaitility.await().until(() -> client.once().get("/legacy/order/4711").status() == 308);
    assertThat(browser.get(PAGE).html())
        .contains("\"state\">over</td>")
        .doesNotContain("End it now");
    assertThat(browser.get(end).status()).isEqualTo(400);
  }

  @Test
  void aPlannedBrownoutIsCancelled() {
    String path = PAGE + "/brownouts";
    Map<String, String> window =
        Map.of("from", "2998-12-01T10:00:00Z", "to", "2998-12-01T11:00:00Z", "answer", "410");
    Page diff = send(browser, path, window);
    assertThat(diff.html()).contains("is answered 410. Search engines may drop the links");
    sendFrom(browser, path, diff, Map.of("step", "confirm"));
    assertThat(legacy()).contains("\"answer\":410");
    assertThat(send(browser, path, window).html()).contains("overlaps an earlier one");

    String end = path + "/" + Instant.parse("2998-12-01T10:00:00Z").getEpochSecond() + "/end";
    assertThat(browser.get(PAGE).links()).contains(end);
    Page ending = browser.get(end);
    assertThat(ending.html()).contains("does not take place");
    sendFrom(browser, end, ending, Map.of("step", "confirm"));

    assertThat(legacy()).contains("\"brownouts\":[]");
    assertThat(browser.get(end).status()).isEqualTo(404);
    assertThat(browser.get(path + "/x/end").status()).isEqualTo(404);
  }
}
