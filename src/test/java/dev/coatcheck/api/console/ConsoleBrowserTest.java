package dev.coatcheck.api.console;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.deque.html.axecore.playwright.AxeBuilder;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.registry.TestType;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
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
@Timeout(300)
class ConsoleBrowserTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final Path PICTURES = Path.of("target", "console");
  private static final List<String> ARGUMENTS =
      List.of(
          "--no-sandbox",
          "--disable-gpu",
          "--disable-quic",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync");

  /** What else happens while pages are shown, of which there must be nothing. */
  private static final List<String> COMPLAINTS = new ArrayList<>();

  private static Playwright playwright;
  private static Browser browser;
  private static String order;
  private static String merged;
  private static String revoked;

  @BeforeAll
  static void start() {
    Optional<Path> chromium =
        Stream.of("chromium", "chromium-browser", "google-chrome")
            .map(name -> Path.of("/usr/bin", name))
            .filter(Files::isExecutable)
            .findFirst();
    Assumptions.assumeTrue(chromium.isPresent(), "chromium is not installed");
    playwright =
        Playwright.create(
            new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    browser =
        playwright
            .chromium()
            .launch(
                new BrowserType.LaunchOptions()
                    .setExecutablePath(chromium.get())
                    .setArgs(ARGUMENTS));
    TestClient client = GATEWAY.client();
    client.put(
        TestType.of("order", "ord")
            .with(
                "redirect",
                Map.of("template", "https://shop.example/orders/{id}", "max_age_seconds", 3_600))
            .with("legacy", Map.of()));
    order = client.mint("order", "key", "900001", "legacy_id", "4711").text("/id");
    merged = client.mint("order", "legacy_id", "4712").text("/id");
    String other = client.mint("order").text("/id");
    client.post("/v1/ids/" + merged + "/merge", json("into", order));
    client.post("/v1/ids/" + other + "/merge", json("into", order));
    revoked = client.mint("order").text("/id");
    client.post("/v1/ids/" + revoked + "/revoke", json("reason", "reported as fraud"));
  }

  @AfterAll
  static void stop() {
    if (playwright != null) {
      playwright.close();
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
    pages.put("alias", "/console/ids/" + order + "/aliases");
    return pages;
  }

  private static Page open(Browser.NewContextOptions options) {
    BrowserContext context = browser.newContext(options.setBaseURL(GATEWAY.uri().toString()));
    context.onRequest(
        request -> {
          if (!URI.create(request.url()).getAuthority().equals(GATEWAY.uri().getAuthority())) {
            COMPLAINTS.add("request to " + request.url());
          }
        });
    context.onConsoleMessage(
        message -> {
          if (List.of("error", "warning").contains(message.type())) {
            COMPLAINTS.add(message.type() + ": " + message.text());
          }
        });
    context.onWebError(error -> COMPLAINTS.add(error.error()));
    COMPLAINTS.clear();
    return context.newPage();
  }

  private static void signIn(Page page) {
    page.navigate("/console");
    page.getByLabel("API key").fill(GATEWAY.key());
    page.keyboard().press("Enter");
    page.waitForURL("**/console");
  }

  private static Browser.NewContextOptions desktop(ColorScheme scheme) {
    return new Browser.NewContextOptions().setColorScheme(scheme).setViewportSize(1_100, 800);
  }

  private static void check(Page page, String picture) {
    assertThat(page.locator("h1").count()).as(picture).isEqualTo(1);
    assertThat(page.locator("main, header.bar").count()).as(picture).isEqualTo(2);
    assertThat((Boolean) page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
        .as("%s fits its width", picture)
        .isTrue();
    page.screenshot(
        new Page.ScreenshotOptions().setPath(PICTURES.resolve(picture + ".png")).setFullPage(true));
    if (Objects.equals(System.getProperty("docs"), "write")
        && picture.matches("found-(light|dark)")) {
      page.screenshot(
          new Page.ScreenshotOptions()
              .setPath(Path.of("docs", picture.replace("found", "console") + ".png")));
    }
    assertThat(COMPLAINTS).as(picture).isEmpty();
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
      Page page = open(desktop(scheme));
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
    Page page = open(desktop(ColorScheme.LIGHT));
    page.navigate("/console/sign-in");
    page.evaluate("document.querySelector('label').remove()");
    assertThat(faults(page)).isNotEmpty();
    page.evaluate("fetch('https://elsewhere.example/').catch(() => 0)");
    assertThat(COMPLAINTS).isNotEmpty();
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
    assertThat(COMPLAINTS).isEmpty();
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
