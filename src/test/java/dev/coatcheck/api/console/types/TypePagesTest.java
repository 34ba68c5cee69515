package dev.coatcheck.api.console.types;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.console.ConsoleClient.Page;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Types in the console: what is shown, and how they are changed. */
class TypePagesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final String EDIT = "/console/types/order/edit";
  private static final String CANARY = "<script>alert(1)</script>\"'><img src=x>";

  private static TestClient client;
  private static ConsoleClient browser;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    browser = ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
  }

  @BeforeEach
  void types() {
    client.put("/v1/types/order?confirm=links", order().body());
    client.put(TestType.of("parcel", "par"));
  }

  private static TestType order() {
    return TestType.of("order", "ord")
        .with("redirect", Map.of("template", "https://shop.example/o/{id}"))
        .with("legacy", Map.of());
  }

  private static int version(String type) {
    return client.get("/v1/types/" + type).body().at("/version").asInt();
  }

  private static String field(String pointer) {
    return client.get("/v1/types/order").body().at(pointer).asString();
  }

  /** The fields of the form as the page has them. */
  static Map<String, String> fields(String html) {
    Map<String, String> fields = new TreeMap<>();
    Pattern.compile("<input [^>]*name=\"([^\"]+)\" value=\"([^\"]*)\"")
        .matcher(html.substring(html.indexOf("<main")))
        .results()
        .forEach((MatchResult input) -> fields.put(input.group(1), unescaped(input.group(2))));
    Pattern.compile("<textarea [^>]*name=\"([^\"]+)\"[^>]*>\n([^<]*)</textarea>")
        .matcher(html)
        .results()
        .forEach(area -> fields.put(area.group(1), unescaped(area.group(2))));
    Pattern.compile("(?s)<select [^>]*name=\"([^\"]+)\".*?<option value=\"([^\"]*)\" selected")
        .matcher(html)
        .results()
        .forEach(select -> fields.put(select.group(1), select.group(2)));
    fields.remove("next");
    return fields;
  }

  private static String unescaped(String text) {
    return text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&");
  }

  /** Fills in the form of a page and sends it. */
  static Page send(ConsoleClient browser, String path, Map<String, String> filledIn) {
    return sendFrom(browser, path, browser.get(path), filledIn);
  }

  /** Sends the form of a page that was opened before. */
  static Page sendFrom(
      ConsoleClient browser, String path, Page page, Map<String, String> filledIn) {
    Map<String, String> fields = new HashMap<>(fields(page.html()));
    fields.putAll(filledIn);
    return browser.post(path, fields);
  }

  /** The labels of the fields that a page marks as changed. */
  private static List<String> changed(Page page) {
    return Pattern.compile("<tr class=\"changed\">\\s*<th scope=\"row\">([^<]+)</th>")
        .matcher(page.html())
        .results()
        .map(row -> row.group(1))
        .toList();
  }

  @Test
  void theListShowsEachTypeWithItsPoliciesAndCounts() {
    client.mint("parcel");
    client.mint("parcel");
    GATEWAY.execute(
        "insert into coatcheck.legacy_hit select 1234, (now() at time zone 'utc')::date, type_id"
            + " from coatcheck.type where name = 'order' on conflict do nothing");

    assertThat(browser.get("/console/types").html())
        .contains(
            "/console/types/order\"",
            "<code>ord_</code>",
            "redirect 302 to https://shop.example/o/{id}",
            "bigint, snowflake",
            "<td class=\"number\">1,234</td>",
            "<td class=\"number\">2</td>",
            "coatcheck types list",
            "/console/types/new");
  }

  @Test
  void choicesAreInWordsAndTheApiGetsItsOwn() {
    String form = browser.get("/console/types/order/edit").html();
    assertThat(form)
        .contains(
            "<option value=\"serve_stale\" selected>answered from memory</option>",
            "<option value=\"refuse\">refused with 503</option>",
            "<option value=\"pattern\">texts of a pattern</option>")
        .doesNotContain(">serve_stale<", ">typeid<");

    Page preview = send(browser, "/console/types/order/edit", Map.of("on_outage", "refuse"));
    assertThat(preview.html()).contains("answered from memory", "refused with 503");
    Map<String, String> confirmed = Map.of("step", "confirm");
    sendFrom(browser, "/console/types/order/edit", preview, confirmed);

    assertThat(field("/on_outage")).isEqualTo("refuse");
    assertThat(browser.get("/console/types/order").html()).contains("refused with 503");
  }

  @Test
  void manyPublicIdsAreAnEstimate() {
    client.put(TestType.of("leaf", "leaf"));
    GATEWAY.execute(
        "insert into coatcheck.public_id (key, token, type_id, bucket)"
            + " select n, gen_random_uuid(), type_id, 1 from coatcheck.type,"
            + " generate_series(1, 3000) n where name = 'leaf'");
    GATEWAY.execute("analyze coatcheck.public_id");

    assertThat(browser.get("/console/types/leaf").html())
        .containsPattern("<dt>Public IDs</dt><dd>about (2,9|3,0)[0-9]{2}</dd>");
  }

  @Test
  void theHistoryIsForThoseWhoMayReadTheAudit() {
    TestType crate =
        TestType.of("crate", "crt")
            .with("redirect", Map.of("template", "https://shop.example/c/{id}"));
    client.put(crate);
    client.put(crate.with("stale_seconds_max", 7));
    assertThat(browser.get("/console/types/crate").html())
        .contains(
            "<h2>History</h2>",
            ": created",
            "changed stale_seconds_max",
            "<code>key_" + GATEWAY.key().substring(9, 21) + "</code>");

    ConsoleClient reader = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.TYPES_READ));
    assertThat(reader.get("/console/types/crate").html())
        .contains("https://shop.example/c/{id}")
        .doesNotContain("<h2>History</h2>");
  }

  @Test
  void theDifferenceShowsExactlyTheChangedFieldsAndChangesNothing() {
    int before = version("order");
    Page diff =
        send(
            browser,
            EDIT,
            Map.of(
                "redirect.max_age_seconds", "60",
                "redirect.template", "https://pay.example/{id}",
                "url_templates", "/orders/{legacy:order}\r\n/o/{legacy:order}"));

    assertThat(diff.status()).as(diff.html()).isEqualTo(200);
    assertThat(changed(diff))
        .containsExactly(
            "Target of /r/{id}", "Seconds that caches keep the redirect", "URL templates");
    assertThat(diff.html())
        .contains(
            "<code>https://shop.example/o/{id}</code>",
            "<code>https://pay.example/{id}</code>",
            "/v1/types/order",
            "Save the changes")
        .doesNotContain("Links end with this change");
    assertThat(version("order")).isEqualTo(before);

    Page done = sendFrom(browser, EDIT, diff, Map.of("step", "confirm"));

    assertThat(done.status()).as(done.html()).isEqualTo(303);
    assertThat(done.location()).isEqualTo("/console/types/order");
    assertThat(field("/redirect/template")).isEqualTo("https://pay.example/{id}");
    assertThat(field("/redirect/max_age_seconds")).isEqualTo("60");
    assertThat(field("/url_templates/1")).isEqualTo("/o/{legacy:order}");
    assertThat(browser.get("/console/types/order").html())
        .contains("changed redirect.max_age_seconds, redirect.template, url_templates");
  }

  /** In a form they are three times as long as in the API's JSON. */
  @Test
  void aTypeWithTheLongestTextsCanBeEdited() {
    Map<String, String> titles = new TreeMap<>();
    Map<String, String> texts = new TreeMap<>();
    for (String language : List.of("be", "bg", "el", "he", "hy", "ka", "mk", "ru", "sr", "uk")) {
      titles.put(language, "Ж".repeat(120));
      texts.put(language, "Ж".repeat(1_000));
    }
    client.put(
        order()
            .with("dead_link", Map.of("title", titles, "text", texts, "default_language", "uk")));

    Page diff = send(browser, EDIT, Map.of("stale_seconds_max", "7"));
    assertThat(changed(diff)).containsExactly("Seconds for which memory is trusted");
    Page done = sendFrom(browser, EDIT, diff, Map.of("step", "confirm"));

    assertThat(done.status()).as(done.html()).isEqualTo(303);
    assertThat(field("/stale_seconds_max")).isEqualTo("7");
    assertThat(field("/dead_link/text/uk")).hasSize(1_000);
  }

  @Test
  void aFormThatChangesNothingOffersNoConfirmation() {
    Page diff = send(browser, EDIT, Map.of());

    assertThat(diff.html()).contains("Nothing would change.").doesNotContain("value=\"confirm");
    assertThat(changed(diff)).isEmpty();
  }

  /**
   * A browser sends neither the line breaks of a text of one line nor, here, the spaces around it.
   */
  @Test
  void aSaltThatAFormCannotSendStaysAsItIs() {
    client.put(
        "/v1/types/order?confirm=links",
        order()
            .with(
                "public_rule",
                Map.of("scheme", "hashids", "text_prefix", "o-", "salt", " pep\nper"))
            .body());
    Map<String, String> fields = Map.of("older.salt", "pepper", "stale_seconds_max", "7");

    Page diff = send(browser, EDIT, fields);
    assertThat(changed(diff)).containsExactly("Seconds for which memory is trusted");
    Page done = sendFrom(browser, EDIT, diff, Map.of("step", "confirm"));

    assertThat(done.status()).as(done.html()).isEqualTo(303);
    assertThat(field("/public_rule/salt")).isEqualTo(" pep\nper");
  }

  @Test
  void allThatAPutTakesIsSetAndShownAgain() {
    Map<String, String> all = new HashMap<>();
    all.put("redirect.status", "307");
    all.put("redirect.public", "no");
    all.put("redirect.expose_key", "yes");
    all.put("legacy.status", "301");
    all.put("legacy.public", "no");
    all.put("legacy.max_id", "900");
    all.put("legacy.deprecated_at", "2026-01-31T12:00:00Z");
    all.put("legacy.sunset_at", "2999-01-31T12:00:00Z");
    all.put("legacy.sunset_link", "https://docs.example/sunset");
    all.put("legacy.max_age_seconds", "5");
    all.put(
        "legacy.brownouts",
        "2998-12-01T10:00:00Z/2998-12-01T11:00:00Z\n2998-12-02T10:00:00Z/2998-12-02T11:00:00Z,410");
    all.put("legacy.brownouts_exempt", "key_2bN8Qx0LmT4a\nkey_2bN8Qx0LmT4b");
    all.put("url_templates", "/orders/{legacy:order}");
    all.put("dead_link.title", "de=Weg\nen=Gone");
    all.put("dead_link.text", "de=Nichts = hier\nen=Nothing here");
    all.put("dead_link.default_language", "en");
    all.put("older.scheme", "hashids");
    all.put("older.text_prefix", "o-");
    all.put("older.min_length", "8");
    all.put("older.salt", "pepper");
    all.put("client_names", "required");
    all.put("on_outage", "refuse");
    all.put("stale_seconds_max", "9");

    Page diff = send(browser, EDIT, all);
    Page done = sendFrom(browser, EDIT, diff, Map.of("step", "confirm_links"));
    assertThat(done.status()).as(done.html()).isEqualTo(303);

    assertThat(client.get("/v1/types/order").body().toString())
        .contains(
            "\"status\":307",
            "\"expose_key\":true",
            "\"max_id\":\"900\"",
            "\"sunset_link\":\"https://docs.example/sunset\"",
            "\"answer\":503},{\"from\":\"2998-12-02T10:00:00Z\"",
            "\"answer\":410}",
            "\"brownouts_exempt\":[\"key_2bN8Qx0LmT4a\",\"key_2bN8Qx0LmT4b\"]",
            "\"de\":\"Nichts = hier\"",
            "\"scheme\":\"hashids\"",
            "\"salt\":\"pepper\"",
            "\"client_names\":\"required\"",
            "\"on_outage\":\"refuse\"",
            "\"stale_seconds_max\":9");
    Map<String, String> shown = fields(browser.get(EDIT).html());
    all.forEach(
        (name, value) ->
            assertThat(shown.getOrDefault(name, "").replace("\r", "")).as(name).isEqualTo(value));
    assertThat(changed(send(browser, EDIT, Map.of()))).isEmpty();
  }

  @Test
  void linksEndOnlyAfterTheConfirmation() {
    String id = client.mint("order").text("/id");
    Page diff = send(browser, EDIT, Map.of("redirect.template", ""));

    assertThat(diff.status()).isEqualTo(200);
    assertThat(diff.html())
        .contains(
            "Links end with this change",
            "Without a public redirect, /r/{id} and /legacy/{type}/{n} answer 404.",
            "Public IDs in force: <b>",
            "value=\"confirm_links\"",
            "--confirm-links",
            "?confirm=links")
        .doesNotContain("value=\"confirm\"");

    Page refused = sendFrom(browser, EDIT, diff, Map.of("step", "confirm"));
    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.html()).contains("Nothing was changed yet");
    assertThat(field("/redirect/template")).isEqualTo("https://shop.example/o/{id}");

    assertThat(sendFrom(browser, EDIT, diff, Map.of("step", "confirm_links")).status())
        .isEqualTo(303);
    assertThat(client.get("/v1/types/order").body().at("/redirect").isNull()).isTrue();
    assertThat(id).startsWith("ord_");
    assertThat(browser.get("/console/types/order").html()).contains("links may end");
  }

  @Test
  void aChangeInBetweenIsRefusedWithBothVersions() {
    Page form = browser.get(EDIT);
    int seen = version("order");
    client.put(order().with("stale_seconds_max", 11));

    Page refused =
        sendFrom(browser, EDIT, form, Map.of("redirect.max_age_seconds", "77", "step", "confirm"));

    assertThat(refused.status()).isEqualTo(412);
    assertThat(refused.html())
        .contains(
            "you saw version " + seen,
            "it is now at version " + (seen + 1),
            "Save over version " + (seen + 1));
    assertThat(changed(refused))
        .containsExactly(
            "Seconds that caches keep the redirect", "Seconds for which memory is trusted");
    assertThat(field("/redirect/max_age_seconds")).isEqualTo("0");
    assertThat(field("/stale_seconds_max")).isEqualTo("11");

    assertThat(sendFrom(browser, EDIT, form, Map.of("stale_seconds_max", "3")).status())
        .as("the first step tells it already")
        .isEqualTo(412);
    assertThat(sendFrom(browser, EDIT, refused, Map.of("step", "confirm")).status()).isEqualTo(303);
    assertThat(field("/redirect/max_age_seconds")).isEqualTo("77");
  }

  @Test
  void aTypeWhoseHostsAreNoLongerListedCanStillBeChanged() {
    TestDatabase database = TestDatabase.fresh();
    try (GatewayFixture before = GatewayFixture.on(database)) {
      TestClient.assertPut(before.client().put(order()));
    }
    try (GatewayFixture listing =
        GatewayFixture.on(database, "COATCHECK_REDIRECT_HOSTS", "pay.example")) {
      ConsoleClient editor = ConsoleClient.signedIn(listing, listing.key());

      Page diff = send(editor, EDIT, Map.of("stale_seconds_max", "7"));
      assertThat(changed(diff)).containsExactly("Seconds for which memory is trusted");
      Page done = sendFrom(editor, EDIT, diff, Map.of("step", "confirm"));
      Page other = send(editor, EDIT, Map.of("redirect.template", "https://shop.example/x/{id}"));

      assertThat(done.status()).as(done.html()).isEqualTo(303);
      assertThat(other.status()).as("another link to such a host").isEqualTo(422);
    }
  }

  @Test
  void aNewTypeIsShownBeforeItIsThere() {
    Map<String, String> invoice =
        Map.of(
            "name", "invoice",
            "prefix", "inv",
            "redirect.template", "https://shop.example/i/{id}");
    Page diff = send(browser, "/console/types/new", invoice);

    assertThat(diff.html()).contains("The new type invoice", "<code>inv</code>");
    assertThat(client.get("/v1/types/invoice").status()).isEqualTo(404);

    Page done = sendFrom(browser, "/console/types/new", diff, Map.of("step", "confirm"));

    assertThat(done.status()).as(done.html()).isEqualTo(303);
    assertThat(done.location()).isEqualTo("/console/types/invoice");
    assertThat(client.mint("invoice").text("/id")).startsWith("inv_");
    Page again = send(browser, "/console/types/new", invoice);
    assertThat(again.status()).isEqualTo(412);
    assertThat(again.html()).contains("exists already", "value=\"invoice\"");
  }

  @Test
  void aTypeIsRetiredAndMintsAgain() {
    client.put(TestType.of("pager", "pgr"));
    String edit = "/console/types/pager/edit";
    assertThat(browser.get("/console/types").html()).doesNotContain("retired since");

    Page diff = send(browser, edit, Map.of("retired", "yes"));
    assertThat(changed(diff)).containsExactly("Retired");
    assertThat(client.mint("pager").status()).isEqualTo(201);
    assertThat(sendFrom(browser, edit, diff, Map.of("step", "confirm")).status()).isEqualTo(303);
    assertThat(client.mint("pager").text("/code")).isEqualTo("type_retired");
    assertThat(browser.get("/console/types").html()).contains("retired since 20");

    Page back = send(browser, edit, Map.of("retired", "no"));
    assertThat(sendFrom(browser, edit, back, Map.of("step", "confirm")).status()).isEqualTo(303);
    assertThat(client.mint("pager").status()).isEqualTo(201);
  }

  @Test
  void whatATypeCantBeIsSaidAtItsField() {
    Page refused =
        send(browser, EDIT, Map.of("redirect.template", "ftp://x/{id}", "stale_seconds_max", "12"));

    assertThat(refused.status()).isEqualTo(422);
    assertThat(refused.html())
        .contains("role=\"alert\">Target of /r/{id}: The template", "value=\"ftp://x/{id}\"")
        .containsPattern("name=\"redirect.template\"[^>]*aria-invalid=\"true\"");
    assertThat(fields(refused.html())).containsEntry("stale_seconds_max", "12");
    for (Map.Entry<String, String> wrong :
        Map.of(
                "stale_seconds_max", "x",
                "legacy.brownouts", "tomorrow",
                "legacy.sunset_at", "soon",
                "dead_link.title", "en=a\nen2",
                "older.scheme", "pattern",
                "redirect.status", "200",
                "on_outage", "hope",
                "version", "x")
            .entrySet()) {
      assertThat(send(browser, EDIT, Map.of(wrong.getKey(), wrong.getValue())).status())
          .as(wrong.getKey())
          .isIn(400, 422);
    }
    assertThat(send(browser, "/console/types/new", Map.of("name", "Nope", "prefix", "p")).status())
        .isEqualTo(400);
  }

  @Test
  void everyTextOfACallerComesBackAsText() {
    Page refused = send(browser, EDIT, Map.of("redirect.template", CANARY, "older.salt", CANARY));
    Page diff =
        send(
            browser,
            EDIT,
            Map.of("dead_link.title", "en=" + CANARY, "dead_link.text", "en=</textarea>" + CANARY));
    assertThat(sendFrom(browser, EDIT, diff, Map.of("step", "confirm")).status()).isEqualTo(303);

    for (Page page :
        List.of(
            refused,
            diff,
            browser.get(EDIT),
            browser.get("/console/types/order"),
            send(browser, "/console/types/new", Map.of("name", CANARY)))) {
      assertThat(page.html())
          .contains("&lt;script")
          .doesNotContainIgnoringCase("<script>alert", "<img src=x", "\"'>");
    }
  }

  @Test
  void aKeyWithoutTheScopeSeesNoEditAndIsRefusedByHand() {
    ConsoleClient reader = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.TYPES_READ));
    Map<String, String> fields = new HashMap<>(fields(browser.get(EDIT).html()));
    Page page = reader.get("/console/types/order");
    assertThat(page.html()).doesNotContain("/edit");
    assertThat(reader.get("/console/types").html()).doesNotContain("/console/types/new");
    assertThat(reader.get("/console/legacy/order").html())
        .doesNotContain("/sunset\"", "/brownouts\"");

    fields.put("form_token", page.formToken());
    fields.put("stale_seconds_max", "1");
    fields.put("step", "confirm");
    for (String path :
        List.of(
            EDIT,
            "/console/types/new",
            "/console/legacy/order/sunset",
            "/console/legacy/order/brownouts")) {
      assertThat(reader.get(path).status()).as(path).isEqualTo(403);
      assertThat(reader.post(path, fields).status()).as(path).isEqualTo(403);
    }
    assertThat(field("/stale_seconds_max")).isEqualTo("60");
    assertThat(
            ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.IDS_READ))
                .get("/console/types")
                .status())
        .isEqualTo(403);
  }

  @Test
  void aKeyForSomeTypesSeesAndChangesThoseOnly() {
    ConsoleClient limited =
        ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.ALL, "parcel", "box"));

    for (String list : List.of("/console/types", "/console/legacy")) {
      assertThat(limited.get(list).html()).doesNotContain("order\"", "shop.example");
    }
    assertThat(limited.get("/console/types/parcel").html()).doesNotContain("<h2>History</h2>");
    for (String path : List.of("/console/types/order", EDIT, "/console/legacy/order")) {
      assertThat(limited.get(path).status()).as(path).isEqualTo(403);
    }
    Page diff = send(limited, "/console/types/parcel/edit", Map.of("stale_seconds_max", "2"));
    assertThat(
            sendFrom(limited, "/console/types/parcel/edit", diff, Map.of("step", "confirm"))
                .status())
        .isEqualTo(303);
    for (String name : List.of("crate", "order")) {
      assertThat(send(limited, "/console/types/new", Map.of("name", name, "prefix", "zz")).status())
          .isEqualTo(403);
    }
    Page box = send(limited, "/console/types/new", Map.of("name", "box", "prefix", "box"));
    assertThat(sendFrom(limited, "/console/types/new", box, Map.of("step", "confirm")).status())
        .isEqualTo(303);
  }

  @Test
  void aSegmentTakesTheRightToDrawFromIt() {
    client.put("/v1/segments/rolls", "{}");
    Map<String, String> roll =
        Map.of("name", "roll", "prefix", "roll", "generate", "segment", "tag", "rolls");
    ConsoleClient writer = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.TYPES_WRITE));

    assertThat(send(writer, "/console/types/new", roll).status()).isEqualTo(403);
    assertThat(send(browser, "/console/types/new", roll).status()).isEqualTo(200);
  }
}
