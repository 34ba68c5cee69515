package dev.coatcheck.api.console;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static dev.coatcheck.api.console.TestBrowser.desktop;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.migrations.Runs;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A whole table migration in a real Chromium: one person drives it from the plan to the end of the
 * old columns, and another person, whose key may only read, sees it live.
 */
@Tag("browser")
@Timeout(300)
class MigrationBrowserTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.own();

  private static final String TABLE = "shop.orders";
  private static final int ORDERS = 40_000;
  private static final int ROWS_PER_SECOND = 2_000;
  private static final int SLOWER = 100;
  private static final double PATIENCE_MILLIS = 60_000;

  @Test
  void aWholeMigrationIsDrivenByOnePersonAndSeenLiveByAnother() {
    makeShop();
    try (TestBrowser browser = TestBrowser.start(GATEWAY.uri())) {
      Driver driver = Driver.signIn(browser);
      String run = driver.plan();
      Watcher watcher = Watcher.signIn(browser, run);
      watcher.seesState("planned");

      driver.setRowsPerSecond(ROWS_PER_SECOND);
      driver.act("Start", "Start run");
      watcher.seesState("running");
      watcher.seesProgress();
      driver.press("Pause");
      watcher.seesState("paused");

      driver.setRowsPerSecond(SLOWER);
      driver.press("Resume");
      watcher.seesState("running");
      watcher.seesAtMost(SLOWER);
      driver.setRowsPerSecond(0);
      watcher.seesState("done");
      watcher.seesPhase("verify", "done");
      watcher.seesPhase("switch", "open");
      assertThat(primaryKey()).isEqualTo("id");

      driver.act("Switch", "Switch " + TABLE);
      watcher.seesPhase("switch", "done");
      watcher.seesState("done");
      assertThat(primaryKey()).isEqualTo("snowflake_id");
      driver.act("Undo", "Undo");
      watcher.seesPhase("switch", "undone");
      watcher.seesState("done");
      assertThat(primaryKey()).isEqualTo("id");
      driver.act("Switch", "Switch " + TABLE);
      watcher.seesPhase("switch", "done");
      watcher.seesState("done");

      driver.act("Contract", "Contract " + TABLE);
      watcher.seesState("contracted");
      watcher.seesPhase("contract", "done");
      requireNewKeysAlone();
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void aPageWhoseStreamIsRefusedFollowsItLater() {
    Runs runs = Runs.of(GATEWAY);
    runs.table("parcels", 1);
    String run = "/console/migrations/" + runs.plan("parcels").text("/id");
    try (TestBrowser browser = TestBrowser.start(GATEWAY.uri())) {
      Page page = browser.open(desktop(ColorScheme.LIGHT));
      TestBrowser.signIn(page, GATEWAY.key());
      page.route(
          "**/console/events/**",
          route -> route.fulfill(new Route.FulfillOptions().setStatus(503)),
          new Page.RouteOptions().setTimes(1));
      page.navigate(run);
      assertThat(page.locator("[data-outage]")).isVisible();

      GATEWAY.execute(
          "update coatcheck.table_migration set rows_total = 7 where table_name = 'parcels'");
      assertThat(page.locator("#progress")).containsText("of 7 rows", patiently());
      assertThat(browser.complaints()).hasSize(1).first().asString().contains("503");
    }
  }

  @Test
  void aPageThatCannotBeLoadedAgainStaysUntilItCan() {
    Runs runs = Runs.of(GATEWAY);
    runs.table("crates", 1);
    String run = "/console/migrations/" + runs.plan("crates").text("/id");
    try (TestBrowser browser = TestBrowser.start(GATEWAY.uri())) {
      Page page = browser.open(desktop(ColorScheme.LIGHT));
      TestBrowser.signIn(page, GATEWAY.key());
      page.navigate(run);
      page.route("**" + run, route -> route.fulfill(new Route.FulfillOptions().setStatus(503)));

      GATEWAY.execute(
          "update coatcheck.table_migration set state = 'cancelled' where table_name = 'crates'");
      assertThat(page.locator("[data-outage]"))
          .isVisible(new LocatorAssertions.IsVisibleOptions().setTimeout(PATIENCE_MILLIS));
      assertThat(page.locator("h1 .tag")).hasText("planned");
      page.unroute("**" + run);
      assertThat(page.locator("h1 .tag"))
          .hasText("cancelled", new LocatorAssertions.HasTextOptions().setTimeout(PATIENCE_MILLIS));
    }
  }

  /** A browser keeps six connections to a host; a page that isn't seen must hold none of them. */
  @Test
  void sevenTabsOfPagesThatMoveAllMove() {
    try (TestBrowser browser = TestBrowser.start(GATEWAY.uri())) {
      Page first = browser.open(desktop(ColorScheme.LIGHT));
      TestBrowser.signIn(first, GATEWAY.key());
      first.navigate("/console/overview");
      setHidden(first, true);
      for (int tab = 2; tab <= 7; tab++) {
        Page next = first.context().newPage();
        next.navigate("/console/overview");
        if (tab < 7) {
          setHidden(next, true);
        }
      }
      tell("tab/7");
      assertThat(first.context().pages().getLast().locator("#instances"))
          .containsText("tab/7", patiently());
      assertThat(first.locator("#instances")).not().containsText("tab/7");

      setHidden(first, false);
      assertThat(first.locator("#instances")).containsText("tab/7", patiently());
      assertThat(browser.complaints()).isEmpty();
    }
  }

  @Test
  void aTableKeepsTheFocusAndItsScrollPositionWhileThePageMoves() {
    try (TestBrowser browser = TestBrowser.start(GATEWAY.uri())) {
      Page page = browser.open(new Browser.NewContextOptions().setViewportSize(375, 700));
      TestBrowser.signIn(page, GATEWAY.key());
      page.navigate("/console/overview");
      Locator table = page.locator("#instances .scroll");
      table.focus();
      table.evaluate("table => { table.scrollLeft = 60; }");
      tell("reader/1");

      assertThat(page.locator("#instances")).containsText("reader/1", patiently());
      assertThat(table).isFocused();
      assertThat((Integer) table.evaluate("table => table.scrollLeft")).isEqualTo(60);
    }
  }

  /** What a browser does when another tab is chosen; in a test all tabs count as seen. */
  private static void setHidden(Page page, boolean isHidden) {
    page.evaluate(
        """
        hidden => {
          Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }\
        """,
        isHidden);
  }

  private static void tell(String holder) {
    GATEWAY.execute(
        """
        insert into coatcheck.instance
          (holder, version, address, started_at, seen_at, feed_silent_ms)
        values ('%s', '1', 'http://10.0.0.2:8080', now(), now(), 0)\
        """
            .formatted(holder));
  }

  private static LocatorAssertions.ContainsTextOptions patiently() {
    return new LocatorAssertions.ContainsTextOptions().setTimeout(PATIENCE_MILLIS);
  }

  @Test
  void aPageSaysThatPostgresIsGoneAndMovesOnOnceItIsBack() {
    try (TestBrowser browser = TestBrowser.start(GATEWAY.uri())) {
      Page page = browser.open(desktop(ColorScheme.LIGHT));
      TestBrowser.signIn(page, GATEWAY.key());
      page.navigate("/console/overview");
      Locator outage = page.locator("[data-outage]");
      assertThat(outage).isHidden();

      GATEWAY.setReachable(false);
      try {
        assertThat(outage)
            .isVisible(new LocatorAssertions.IsVisibleOptions().setTimeout(PATIENCE_MILLIS));
      } finally {
        GATEWAY.setReachable(true);
      }
      assertThat(outage)
          .isHidden(new LocatorAssertions.IsHiddenOptions().setTimeout(PATIENCE_MILLIS));
    }
  }

  /** Orders with a table that refers to them. */
  private static void makeShop() {
    Runs.of(GATEWAY).type("order");
    GATEWAY
        .sql()
        .execute(
            "create schema shop",
            "create table shop.orders (id bigserial primary key, made timestamptz not null)",
            "create table shop.order_lines (id bigserial primary key,"
                + " order_id bigint not null references shop.orders)",
            "insert into shop.orders (made) select now() - n * interval '1 minute' from generate_series(1, %d) n"
                .formatted(ORDERS),
            "insert into shop.order_lines (order_id) select id from shop.orders");
  }

  private static String primaryKey() {
    return Objects.requireNonNull(
        GATEWAY
            .sql()
            .text(
                """
                select attname from pg_index
                  join pg_attribute on attrelid = indrelid and attnum = indkey[0]
                 where indrelid = 'shop.orders'::regclass and indisprimary\
                """));
  }

  private static void requireNewKeysAlone() {
    assertThat(primaryKey()).isEqualTo("snowflake_id");
    assertThat(
            GATEWAY.count(
                "select count(*) from shop.order_lines l join shop.orders o on o.snowflake_id ="
                    + " l.order_id_snowflake_id"))
        .isEqualTo(ORDERS);
    assertThat(
            GATEWAY.count(
                "select count(*) from pg_attribute where attrelid = 'shop.orders'::regclass and"
                    + " attname = 'id'"))
        .isZero();
    assertThat(GATEWAY.client().get("/v1/legacy/order/7").status()).isEqualTo(200);
  }

  /** Who may change migrations, and does all of it by the pages. */
  private record Driver(Page page) {
    static Driver signIn(TestBrowser browser) {
      Page page = browser.open(desktop(ColorScheme.LIGHT));
      TestBrowser.signIn(page, GATEWAY.key());
      return new Driver(page);
    }

    /** The path of the run's page. */
    String plan() {
      link("Table migrations").click();
      link("Plan a migration").first().click();
      page.getByLabel("Table", new Page.GetByLabelOptions().setExact(true)).fill(TABLE);
      page.getByLabel("Type of its rows").selectOption("order");
      press("Plan");
      assertThat(page.locator("h1")).containsText(TABLE);
      return page.url().substring(page.url().indexOf("/console"));
    }

    void setRowsPerSecond(int rows) {
      link("Throttle…").click();
      page.getByLabel("Rows a second at most").fill(Integer.toString(rows));
      press("Set the throttle");
      assertThat(link("Throttle…")).isVisible();
    }

    /** Opens the page of an action, accepts and confirms what it asks for, and does it. */
    void act(String action, String button) {
      link(action + "…").click();
      for (Locator precondition : page.locator("input[name^='accept.']").all()) {
        precondition.check();
      }
      if (page.locator("#confirm").count() == 1) {
        page.locator("#confirm").fill(TABLE);
      }
      press(button);
      assertThat(page.locator("h1")).containsText(TABLE);
    }

    void press(String name) {
      page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name)).click();
    }

    private Locator link(String name) {
      return page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(name));
    }
  }

  /** Who may only read, and touches nothing after the page of the run is there. */
  private record Watcher(Page page) {
    private static final Pattern ROWS = Pattern.compile("([0-9,]+) of 40,000 rows");

    static Watcher signIn(TestBrowser browser, String run) {
      Page page = browser.open(desktop(ColorScheme.DARK));
      TestBrowser.signIn(page, keyThatMayOnlyRead());
      page.navigate(run);
      return new Watcher(page);
    }

    private static String keyThatMayOnlyRead() {
      return GATEWAY
          .client()
          .post(
              "/v1/access/keys",
              json(
                  "name",
                  "watcher",
                  "scopes",
                  List.of("ids:read", "types:read", "audit:read", "table_migrations:read")))
          .text("/secret");
    }

    void seesState(String state) {
      assertThat(page.locator("h1 .tag")).hasText(state, patiently());
      seesNoButton();
      page.screenshot(
          new Page.ScreenshotOptions()
              .setPath(TestBrowser.PICTURES.resolve("migration-watched-" + state + ".png"))
              .setFullPage(true));
    }

    /** A phase of the rail with its mark. */
    void seesPhase(String phase, String mark) {
      Locator name =
          page.locator(
              "b", new Page.LocatorOptions().setHasText(Pattern.compile("^" + phase + "$")));
      assertThat(page.locator("ol.rail li." + mark, new Page.LocatorOptions().setHas(name)))
          .hasCount(1, new LocatorAssertions.HasCountOptions().setTimeout(PATIENCE_MILLIS));
    }

    private void seesNoButton() {
      assertThat(page.locator("main button, main form, main a.button")).hasCount(0);
    }

    /** Rows are done on the page as it is, without its being loaded again. */
    void seesProgress() {
      long from = rowsNextSeen(0);
      page.evaluate("document.body.dataset.isStill = 'the same page'");
      rowsNextSeen(from);
      assertThat(page.locator("body")).hasAttribute("data-is-still", "the same page");
    }

    /** Rows follow each other on the page no faster than that, with a batch more. */
    void seesAtMost(int rowsPerSecond) {
      long from = rowsNextSeen(rows());
      long sinceNano = System.nanoTime();
      long done = rowsNextSeen(rowsNextSeen(from)) - from;
      Duration took = Duration.ofNanos(System.nanoTime() - sinceNano);
      assertThat(done).isLessThan(rowsPerSecond * (took.toSeconds() + 2));
    }

    private long rowsNextSeen(long before) {
      assertThat(page.locator("#progress"))
          .not()
          .containsText(
              Pattern.compile("\\b%,d of".formatted(before)),
              new LocatorAssertions.ContainsTextOptions().setTimeout(PATIENCE_MILLIS));
      return rows();
    }

    private long rows() {
      return ROWS.matcher(page.locator("#progress").innerText())
          .results()
          .map(found -> Long.parseLong(found.group(1).replace(",", "")))
          .findFirst()
          .orElseThrow();
    }

    private static LocatorAssertions.HasTextOptions patiently() {
      return new LocatorAssertions.HasTextOptions().setTimeout(PATIENCE_MILLIS);
    }
  }
}
