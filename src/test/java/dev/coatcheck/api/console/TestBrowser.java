package dev.coatcheck.api.console;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.ColorScheme;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** A Chromium that is installed, and all that its pages complain of. One thread drives it. */
final class TestBrowser implements AutoCloseable {
  /** Where pictures of pages are kept. */
  static final Path PICTURES = Path.of("target", "console");

  private static final List<String> ARGUMENTS =
      List.of(
          "--no-sandbox",
          "--disable-gpu",
          "--disable-quic",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync");

  private final Playwright playwright;
  private final Browser browser;
  private final URI gateway;
  private final List<String> complaints = new ArrayList<>();

  private TestBrowser(Playwright playwright, Browser browser, URI gateway) {
    this.playwright = playwright;
    this.browser = browser;
    this.gateway = gateway;
  }

  /** Starts it for the console of a gateway, or skips the test where none is installed. */
  static TestBrowser start(URI gateway) {
    Optional<Path> chromium =
        Stream.of("chromium", "google-chrome", "chromium-browser")
            .map(name -> Path.of("/usr/bin", name))
            .filter(Files::isExecutable)
            .findFirst();
    Assumptions.assumeTrue(chromium.isPresent(), "chromium is not installed");
    Playwright playwright =
        Playwright.create(
            new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    try {
      Browser browser =
          playwright
              .chromium()
              .launch(
                  new BrowserType.LaunchOptions()
                      .setExecutablePath(chromium.get())
                      .setArgs(ARGUMENTS));
      return new TestBrowser(playwright, browser, gateway);
    } catch (RuntimeException failed) {
      playwright.close();
      throw failed;
    }
  }

  static Browser.NewContextOptions desktop(ColorScheme scheme) {
    return new Browser.NewContextOptions().setColorScheme(scheme).setViewportSize(1_100, 800);
  }

  /** A page of a person of its own, who has no cookies yet. */
  Page open(Browser.NewContextOptions options) {
    BrowserContext context = browser.newContext(options.setBaseURL(gateway.toString()));
    context.onRequest(
        request -> {
          if (!URI.create(request.url()).getAuthority().equals(gateway.getAuthority())) {
            complaints.add("request to " + request.url());
          }
        });
    context.onConsoleMessage(
        message -> {
          if (List.of("error", "warning").contains(message.type())) {
            complaints.add(message.type() + ": " + message.text());
          }
        });
    context.onWebError(error -> complaints.add(error.error()));
    return context.newPage();
  }

  static void signIn(Page page, String key) {
    page.navigate("/console");
    page.getByLabel("API key").fill(key);
    page.keyboard().press("Enter");
    page.waitForURL("**/console");
  }

  /** Requests off the gateway, errors and warnings, of which there must be none. */
  List<String> complaints() {
    return complaints;
  }

  @Override
  public void close() {
    playwright.close();
  }
}
