package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * A cache between browsers, API clients and a gateway gives each of them its own form of an answer,
 * even if it keeps what it was told not to.
 */
class DeadLinkCacheTest {
  private static final String API = "Accept: application/json";
  private static final String ENGLISH = "Accept: text/html\r\nAccept-Language: en";
  private static final String GERMAN = "Accept: text/html\r\nAccept-Language: de-AT, en;q=0.5";
  private static final String HTML = "text/html;charset=utf-8";
  private static final String PROBLEM = "application/problem+json";

  @TempDir private static Path folder;
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static Nginx cache;

  @BeforeAll
  static void start() throws IOException {
    assumeTrue(Nginx.isInstalled(), "nginx with http_auth_request_module is not installed");
    cache = Nginx.cache(Files.createDirectory(folder.resolve("cache")), GATEWAY.uri().getPort());
    TestClient client = GATEWAY.client();
    client.put(
        TestType.of("offer", "ofr")
            .with(
                "redirect",
                Map.of("template", "https://shop.example/{id}", "max_age_seconds", 3_600))
            .with("legacy", Map.of())
            .and(
                """
                {"dead_link":{"default_language":"en","title":{"en":"Sold","de":"Verkauft"},
                              "text":{"en":"See our shop.","de":"Mehr im Laden."}}}
                """));
    client.put(
        TestType.of("event", "evt")
            .redirect("https://shop.example/{id}")
            .with("fallback_url", "https://shop.example/events"));
  }

  @AfterAll
  static void stop() {
    if (cache != null) {
      cache.close();
    }
  }

  @Test
  void aMissingLinkIsAPageForBrowsersAndAProblemForOthers() throws IOException {
    for (List<String> order : List.of(List.of(API, ENGLISH), List.of(ENGLISH, API))) {
      String path = "/r/ofr_" + order.getFirst().length();
      for (String status : List.of("MISS", "HIT")) {
        for (String client : order) {
          RawHttp.Reply reply = ask(path, client);

          assertThat(reply.status()).isEqualTo(404);
          assertThat(header(reply, "Content-Type")).isEqualTo(client.equals(API) ? PROBLEM : HTML);
          assertThat(header(reply, "Cache-Status")).as("%s by %s", path, client).isEqualTo(status);
        }
      }
    }
  }

  @Test
  void anEndedLinkHasItsTextInTheLanguageOfEachBrowser() throws IOException {
    for (List<String> order :
        List.of(List.of(API, ENGLISH, GERMAN), List.of(GERMAN, API, ENGLISH))) {
      String path = "/r/" + revoked("offer");
      for (String status : List.of("MISS", "HIT")) {
        for (String client : order) {
          RawHttp.Reply reply = ask(path, client);

          assertThat(reply.status()).isEqualTo(410);
          assertThat(reply.body())
              .contains(
                  client.equals(API)
                      ? "public_id_revoked"
                      : client.equals(GERMAN)
                          ? "<h1 dir=\"auto\">Verkauft<"
                          : "<h1 dir=\"auto\">Sold<");
          assertThat(header(reply, "Cache-Status")).as("%s by %s", path, client).isEqualTo(status);
        }
      }
    }
  }

  @Test
  void onlyBrowsersAreSentToTheFallback() throws IOException {
    String path = "/r/" + revoked("event");
    for (String status : List.of("MISS", "HIT")) {
      RawHttp.Reply browser = ask(path, ENGLISH);
      RawHttp.Reply other = ask(path, API);

      assertThat(browser.status()).isEqualTo(302);
      assertThat(header(browser, "Location")).isEqualTo("https://shop.example/events");
      assertThat(other.status()).isEqualTo(410);
      assertThat(List.of(header(browser, "Cache-Status"), header(other, "Cache-Status")))
          .containsOnly(status);
    }
  }

  @Test
  void theRootIsAPageForBrowsersOnly() throws IOException {
    for (String status : List.of("MISS", "HIT")) {
      RawHttp.Reply other = ask("/", API);
      RawHttp.Reply browser = ask("/", ENGLISH);

      assertThat(List.of(browser.status(), other.status())).containsExactly(200, 404);
      assertThat(List.of(header(browser, "Cache-Status"), header(other, "Cache-Status")))
          .containsOnly(status);
    }
  }

  @Test
  void aRedirectIsKeptForEachKindOfClient() throws IOException {
    String path = "/r/" + GATEWAY.client().mint("offer").text("/id");
    for (String status : List.of("MISS", "HIT")) {
      for (String client : List.of(ENGLISH, API)) {
        RawHttp.Reply reply = ask(path, client);

        assertThat(reply.status()).isEqualTo(302);
        assertThat(header(reply, "Cache-Status")).isEqualTo(status);
      }
    }
  }

  private static String revoked(String type) {
    String id = GATEWAY.client().mint(type).text("/id");
    GATEWAY.client().post("/v1/ids/" + id + "/revoke", "{}");
    return id;
  }

  private static String header(RawHttp.Reply reply, String name) {
    return String.join(" and ", reply.headers().getOrDefault(name, List.of()));
  }

  private static RawHttp.Reply ask(String path, String headers) throws IOException {
    List<String> lines =
        new ArrayList<>(List.of("GET " + path + " HTTP/1.1", "Host: links", "Connection: close"));
    lines.addAll(List.of(headers.split("\r\n", -1)));
    return RawHttp.sendOnce("127.0.0.1", cache.port(), RawHttp.request(lines, new byte[0]));
  }
}
