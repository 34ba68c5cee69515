package dev.coatcheck.api.console;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.deque.html.axecore.playwright.AxeBuilder;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.api.routes.migrations.Runs;
import dev.coatcheck.ids.registry.TestType;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The console in a real Chromium: light, dark, on a phone, without JavaScript, by the keyboard
 * alone. Pictures of all pages are kept in {@code target/console}.
 */
@Tag("browser")
@Timeout(480) // on a busy machine too
class ConsoleBrowserTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  /** Runs by their states. */
  private static final Map<String, String> RUNS = new LinkedHashMap<>();

  private static @Nullable TestBrowser browser;
  private static String order;
  private static String merged;
  private static String revoked;
  private static Instant brownoutFrom = Instant.EPOCH;
  private static String run;
  private static String erased;
  private static String apiKey;
  private static String successor;

  @BeforeAll
  static void start() {
    browser = TestBrowser.start(GATEWAY.uri());
    TestClient client = GATEWAY.client();
    client.put(
        TestType.of("order", "ord")
            .with(
                "redirect",
                Map.of("template", "https://shop.example/orders/{id}", "max_age_seconds", 3_600))
            .with("legacy", Map.of("sunset_at", "2999-01-31T00:00:00Z", "max_id", "9000"))
            .with("url_templates", List.of("/orders/{legacy:order}")));
    order = client.mint("order", "key", "900001", "legacy_id", "4711").text("/id");
    merged = client.mint("order", "legacy_id", "4712").text("/id");
    String other = client.mint("order").text("/id");
    client.post("/v1/ids/" + merged + "/merge", json("into", order));
    client.post("/v1/ids/" + other + "/merge", json("into", order));
    planMigrations();
    GATEWAY.execute("create table public.baskets (id bigserial primary key)");
    run =
        client.post("/v1/table-migrations", json("table", "baskets", "type", "order")).text("/id");
    GATEWAY.execute(
        """
        update coatcheck.table_migration
           set state = 'paused', rows_total = 120000, rows_done = 48000, worked_millis = 60000,
               reason = 'Paused by ops.'
         where migration_id = %1$s;
        insert into coatcheck.table_migration_load
        select migration_id, now() - n * interval '5 s', 48000 - 800 * n + 40 * (n %% 7), n %% 4,
               48000000::bigint * (60 - n), case when n between 10 and 15 then 'a replica is 12 s behind' end
          from coatcheck.table_migration, generate_series(1, 60) n
         where migration_id = %1$s\
        """
            .formatted(run));
    erased = client.mint("order").text("/id");
    client.send("POST", "/v1/ids/" + erased + "/erase", null);
    apiKey =
        client
            .post(
                "/v1/access/keys",
                json(
                    "name", "edge-frankfurt",
                    "scopes", List.of("ids:read", "ids:write", "types:read"),
                    "types", List.of("order"),
                    "ranges", List.of("10.0.0.0/8", "2001:db8::/32"),
                    "limit", Map.of("requests", 500, "seconds", 10),
                    "expires_at", "2999-01-31T00:00:00Z"))
            .text("/id");
    successor =
        client
            .post("/v1/access/keys/" + apiKey + "/rotate", json("overlap_seconds", 86_400))
            .text("/id");
    revoked = client.mint("order").text("/id");
    client.post("/v1/ids/" + revoked + "/revoke", json("reason", "reported as fraud"));
    legacyTraffic(client);
  }

  /** A type with all policies, of which legacy IDs are found for two months. */
  private static void legacyTraffic(TestClient client) {
    Instant day = Instant.now().truncatedTo(ChronoUnit.DAYS);
    brownoutFrom = day.plus(Duration.ofDays(6));
    client.put(
        TestType.of("invoice", "inv")
            .with("redirect", Map.of("template", "https://shop.example/invoices/{id}"))
            .with(
                "legacy",
                Map.of(
                    "deprecated_at",
                    day.minus(Duration.ofDays(40)).toString(),
                    "sunset_at",
                    day.plus(Duration.ofDays(14)).toString(),
                    "sunset_link",
                    "https://docs.shop.example/old-invoices",
                    "brownouts",
                    List.of(
                        Map.of(
                            "from", day.minus(Duration.ofDays(9)).toString(),
                            "to", day.minus(Duration.ofDays(8)).toString()),
                        Map.of(
                            "from", brownoutFrom.toString(),
                            "to", brownoutFrom.plus(Duration.ofHours(4)).toString()))))
            .with("url_templates", List.of("/invoices/{legacy:invoice}"))
            .with(
                "dead_link",
                Map.of(
                    "title", Map.of("en", "Gone"), "text", Map.of("en", "Ask for a new link."))));
    client.mint("invoice", "legacy_id", "1");
    GATEWAY.execute(
        """
        insert into coatcheck.legacy_hit
        select 4000 - 60 * (60 - d) + 37 * d % 700, (now() at time zone 'utc')::date - d, type_id
          from coatcheck.type, generate_series(0, 59) d where name = 'invoice'
        """);
    GATEWAY.execute(
        """
        with t as (select type_id from coatcheck.type where name = 'invoice'),
        c (kind, caller, count) as (values
          ('api_key', '(none)', 52000), ('api_key', 'key_2bN8Qx0LmT4a', 9300),
          ('user_agent', 'Mozilla/5.0 (Linux; Android 14) ShopApp/4.2.1', 41000),
          ('user_agent', 'billing-export/1.9 (Java 8)', 9300), ('user_agent', 'Googlebot/2.1', 5100),
          ('referring_host', '(none)', 50300), ('referring_host', 'forum.example', 7400),
          ('address_range', '198.51.100.0/24', 9300), ('address_range', '2001:db8:5::/48', 310)),
        s as (
          insert into coatcheck.legacy_caller_sum
          select 61300, (now() at time zone 'utc')::date - 1, kind, 0, type_id from c, t group by kind, type_id)
        insert into coatcheck.legacy_caller (type_id, day, kind, caller, count, error)
        select type_id, (now() at time zone 'utc')::date - 1, kind, caller, count, 0 from c, t
        """);
  }

  /** One run for each state that a page of an action needs; none is carried on. */
  private static void planMigrations() {
    Runs runs = Runs.of(GATEWAY);
    for (String state :
        List.of("planned", "paused", "done", "switched", "contracted", "cancelled")) {
      String table = "pictured_" + state;
      GATEWAY.execute("drop table if exists public." + table);
      runs.table(table, 1_000);
      String id = runs.plan(table).text("/id");
      RUNS.put(state, id);
      GATEWAY.execute(
          """
          update coatcheck.table_migration
             set state = '%s', occupies = %s where migration_id = %s\
          """
              .formatted(
                  state.equals("switched") ? "done" : state,
                  !List.of("planned", "cancelled").contains(state),
                  id));
    }
    GATEWAY.execute(
        """
        alter table public.pictured_switched add snowflake_id bigint;
        create view public.pictured_report as select id from public.pictured_switched;
        update coatcheck.table_migration_step set state = 'verified'
         where migration_id = %s and phase <> 'contract'\
        """
            .formatted(RUNS.get("switched")));
    GATEWAY.execute(
        "update coatcheck.table_migration_step set state = 'verified' where migration_id = %s and phase in ('expand', 'backfill')"
            .formatted(RUNS.get("paused")));
  }

  private static String action(String state, String action) {
    return "/console/migrations/" + RUNS.get(state) + "/" + action;
  }

  @AfterAll
  static void stop() {
    if (browser != null) {
      browser.close();
    }
  }

  /** The pages, by the names of their pictures. */
  private static Map<String, String> pages() {
    Map<String, String> pages = new LinkedHashMap<>();
    pages.put("find", "/console");
    pages.put("found", "/console?q=" + order);
    pages.put("merged", "/console?q=" + merged);
    pages.put("revoked", "/console?q=" + revoked);
    pages.put("foreign", "/console?q=01ARZ3NDEKTSV4RRFFQ69G5FAV");
    pages.put("unknown", "/console?q=hello");
    pages.put("revoke", "/console/ids/" + order + "/revoke");
    pages.put("merge", "/console/ids/" + order + "/merge");
    pages.put("overview", "/console/overview");
    pages.put("migrations", "/console/migrations");
    pages.put("migration", "/console/migrations/" + run);
    pages.put("alias", "/console/ids/" + order + "/aliases");
    pages.put("types", "/console/types");
    pages.put("type", "/console/types/invoice");
    pages.put("type-new", "/console/types/new");
    pages.put("type-edit", "/console/types/invoice/edit");
    pages.put("legacy", "/console/legacy");
    pages.put("legacy-type", "/console/legacy/invoice");
    pages.put("sunset", "/console/legacy/invoice/sunset");
    pages.put("brownout", "/console/legacy/invoice/brownouts");
    pages.put(
        "brownout-end",
        "/console/legacy/invoice/brownouts/" + brownoutFrom.getEpochSecond() + "/end");
    pages.put("migration-plan", "/console/migrations/new");
    pages.put("migration-start", action("planned", "start"));
    pages.put("migration-throttle", action("planned", "throttle"));
    pages.put("migration-cancel", action("planned", "cancel"));
    pages.put("migration-undo", action("paused", "undo"));
    pages.put("migration-switch", action("done", "switch"));
    pages.put("migration-contract", action("switched", "contract"));
    pages.put("migration-retire", action("contracted", "retire"));
    pages.put("migration-forget", action("cancelled", "forget"));
    pages.put("erase", "/console/ids/" + order + "/erase");
    pages.put("erased", "/console?q=" + erased);
    pages.put("erasure", "/console/ids/" + erased + "/erasure");
    pages.put("keys", "/console/keys");
    pages.put("key", "/console/keys/" + apiKey);
    pages.put("key-new", "/console/keys/new");
    pages.put("key-edit", "/console/keys/" + apiKey + "/edit");
    pages.put("key-rotate", "/console/keys/" + successor + "/rotate");
    pages.put("key-revoke", "/console/keys/" + apiKey + "/revoke");
    pages.put("audit", "/console/audit");
    pages.put("links", "/console/links");
    pages.put("link-resolved", "/console/links?url=/orders/" + order);
    pages.put("link-redirected", "/console/links?legacy=redirect&url=/orders/4711");
    pages.put("link-own", "/console/links?url=/r/" + revoked);
    return pages;
  }

  private static Page open(Browser.NewContextOptions options) {
    browser().complaints().clear();
    return browser().open(options);
  }

  private static TestBrowser browser() {
    return Objects.requireNonNull(browser);
  }

  private static void signIn(Page page) {
    TestBrowser.signIn(page, GATEWAY.key());
  }

  private static void check(Page page, String picture) {
    assertThat(page.locator("h1").count()).as(picture).isEqualTo(1);
    assertThat(page.locator("main, header.bar").count()).as(picture).isEqualTo(2);
    assertThat((Boolean) page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
        .as("%s fits its width", picture)
        .isTrue();
    page.screenshot(
        new Page.ScreenshotOptions()
            .setPath(TestBrowser.PICTURES.resolve(picture + ".png"))
            .setFullPage(true));
    if (Objects.equals(System.getProperty("docs"), "write")
        && picture.matches("found-(light|dark)")) {
      page.screenshot(
          new Page.ScreenshotOptions()
              .setPath(Path.of("docs", picture.replace("found", "console") + ".png")));
    }
    assertThat(browser().complaints()).as(picture).isEmpty();
  }

  private static void checkAll(Page page, String kind, BiConsumer<Page, String> check) {
    page.navigate("/console/sign-in");
    check.accept(page, "sign-in-" + kind);
    signIn(page);
    pages()
        .forEach(
            (name, path) -> {
              page.navigate(path);
              check.accept(page, name + "-" + kind);
            });
  }

  @Test
  void everyPageIsAccessibleAndSilentLightAndDark() {
    for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
      Page page = open(TestBrowser.desktop(scheme));
      checkAll(
          page,
          scheme.name().toLowerCase(Locale.ROOT),
          (shown, picture) -> {
            check(shown, picture);
            requireAccessible(shown, picture);
          });
      page.context().close();
    }
  }

  @Test
  void aFaultOfAPageIsSeen() {
    Page page = open(TestBrowser.desktop(ColorScheme.LIGHT));
    page.navigate("/console/sign-in");
    page.evaluate("document.querySelector('label').remove()");
    assertThat(faults(page)).isNotEmpty();
    page.evaluate("fetch('https://elsewhere.example/').catch(() => 0)");
    assertThat(browser().complaints()).isNotEmpty();
    page.context().close();
  }

  private static void requireAccessible(Page page, String name) {
    assertThat(faults(page)).as(name).isEmpty();
  }

  private static List<String> faults(Page page) {
    return new AxeBuilder(page)
        .analyze().getViolations().stream()
            .filter(rule -> List.of("serious", "critical").contains(rule.getImpact()))
            .map(rule -> rule.getId() + " " + rule.getNodes().getFirst().getHtml())
            .toList();
  }

  @Test
  void everyPageFitsAPhone() {
    Page page = open(new Browser.NewContextOptions().setViewportSize(375, 700));
    checkAll(page, "phone", ConsoleBrowserTest::check);
    page.navigate("/console?q=" + order);
    assertThat(
            (Boolean)
                page.evaluate(
                    """
                    () => {
                      const [name, value] = document.querySelector("dl > div").children;
                      return value.getBoundingClientRect().top >= name.getBoundingClientRect().bottom;
                    }\
                    """))
        .as("a value stands below its name")
        .isTrue();
    page.context().close();
  }

  @Test
  void everythingWorksWithoutJavaScriptAndByTheKeyboardAlone() {
    Page page =
        open(new Browser.NewContextOptions().setJavaScriptEnabled(false).setViewportSize(800, 700));
    String id = GATEWAY.client().mint("order").text("/id");
    signIn(page);

    page.getByRole(AriaRole.TEXTBOX).fill(id);
    page.keyboard().press("Enter");
    focus(page, page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("Revoke…")));
    page.keyboard().press("Enter");
    page.waitForURL("**/revoke");
    page.getByLabel("Reason").fill("by the keyboard");
    focus(
        page, page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Revoke " + id)));
    page.keyboard().press("Enter");
    page.waitForURL("**/console?q=*");

    assertThat(page.content()).contains(">revoked</b>", "by the keyboard");
    assertThat(GATEWAY.client().get("/v1/ids/" + id).status()).isEqualTo(410);
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Sign out")).click();
    page.waitForURL("**/console/sign-in");
    assertThat(browser().complaints()).isEmpty();
    page.context().close();
  }

  @Test
  void aChangeOfATypeIsShownBeforeItIsMade() {
    for (Browser.NewContextOptions kind :
        List.of(
            TestBrowser.desktop(ColorScheme.LIGHT),
            TestBrowser.desktop(ColorScheme.DARK),
            new Browser.NewContextOptions().setViewportSize(375, 700))) {
      Page page = open(kind);
      signIn(page);
      page.navigate("/console/types/invoice/edit");
      page.getByLabel("Target of /r/{id}").fill("");
      page.getByLabel("URL templates").fill("/invoices/{legacy:invoice}\n/i/{legacy:invoice}");
      page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Show what would change"))
          .click();
      page.getByText("Links end with this change").waitFor();
      String picture =
          "type-diff-"
              + (kind.viewportSize.get().width < 400
                  ? "phone"
                  : kind.colorScheme.get().name().toLowerCase(Locale.ROOT));
      check(page, picture);
      requireAccessible(page, picture);
      page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Back to the form"))
          .click();
      assertThat(page.getByLabel("URL templates").inputValue())
          .isEqualTo("/invoices/{legacy:invoice}\n/i/{legacy:invoice}");
      page.context().close();
    }
    assertThat(GATEWAY.client().get("/v1/types/invoice").body().at("/version").asInt())
        .isEqualTo(1);
  }

  @Test
  void aNewKeyIsShownOnceWhateverABrowserDoes() {
    Page page = open(TestBrowser.desktop(ColorScheme.LIGHT));
    signIn(page);
    page.navigate("/console/keys/new");
    page.getByLabel("Name of the program").fill("browser-made");
    page.getByLabel("ids:read").check();
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Create")).dblclick();
    page.waitForSelector(".secret");
    check(page, "secret-light");
    requireAccessible(page, "secret");
    String secret = page.locator(".secret").innerText();

    page.reload();
    assertThat(page.content()).contains("browser-made").doesNotContain(secret);
    page.goBack();
    assertThat(page.content()).doesNotContain(secret);
    assertThat(GATEWAY.count("select count(*) from coatcheck.api_key where name = 'browser-made'"))
        .isEqualTo(1);
    page.context().close();
  }

  /** A person who waits for too long presses Stop, and sends the form again. */
  @Test
  void aFormIsNotSentTwiceWithinFiveSecondsAndIsAfterwards() {
    Page page = open(TestBrowser.desktop(ColorScheme.LIGHT));
    page.clock().install();
    signIn(page);
    page.navigate("/console/keys/new");
    page.getByLabel("Name of the program").fill("browser-stopped");
    page.evaluate(
        """
        () => {
          window.submits = [];
          addEventListener("submit", (event) => {
            submits.push(event.defaultPrevented ? "dropped" : "sent");
            event.preventDefault();
          });
        }
        """);
    Locator create = page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Create"));

    create.dblclick();
    page.clock().fastForward(5_000);
    create.click();

    assertThat(page.evaluate("submits.join(' ')")).isEqualTo("sent dropped sent");
    page.context().close();
  }

  /** Moves the focus as the Tab key does, within a few steps. */
  private static void focus(Page page, Locator wanted) {
    for (int steps = 0; steps < 40; steps++) {
      page.keyboard().press("Tab");
      if (page.locator(":focus").and(wanted).count() == 1) {
        return;
      }
    }
    throw new AssertionError("the Tab key does not reach " + wanted);
  }
}
