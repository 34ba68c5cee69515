package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Random URIs with legacy IDs, as nginx asks about them. The number 7 has the key 424242. */
class ProxiedFuzzTest {
  private static final int URIS = 500;
  private static final String[] PIECES = {
    "/orders", "/orders", "/orders", "/7", "/7", "/7", "/%37", "/007", "/8", "/424242",
    "/ID", "/x", "/", "//evil.example", "/%6Frders", "/ORDERS", "/customers", "/2", ".json", ":7",
    ";7", ";v=1", "%2f7", "%2e%2e", "..", "%00", "%", "%0d%0a", "7", "-7",
    "%D9%A7", "?x=1", "?next=//evil.example", "&id=7", "&id=ID", "<", ">", "\"", "\\", ",7",
    "@evil.example", "#7", "{legacy:order}"
  };

  /** A number of the client in the path that the service sees. */
  private static final Pattern BARE = Pattern.compile("/(?!424242(?:[./:;]|$))[0-9]+(?:[./:;]|$)");

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static String id;

  private final long seed = Long.getLong("seed", System.nanoTime());
  private final Random random = new Random(seed);

  @BeforeAll
  static void start() {
    GATEWAY
        .client()
        .put(
            TestType.of("order", "ord")
                .with("legacy", Map.of())
                .with(
                    "url_templates",
                    List.of(
                        "/orders/{legacy:order}",
                        "/{*}/orders/{legacy:order}",
                        "/orders/{legacy:order}/{legacy:order}",
                        "/orders/2/{legacy:order}/x")));
    id = GATEWAY.client().mint("order", "key", "424242", "legacy_id", "7").text("/id");
  }

  /** What a client is sent to is the same page here, and no number of its own gets through. */
  @Test
  void aRedirectLeadsToWhatTheUriItselfIsResolvedTo() throws IOException {
    int redirects = 0;
    int resolves = 0;
    for (int i = 0; i < URIS; i++) {
      String uri = uri();
      RawHttp.Reply resolved = ask(uri, "resolve");
      RawHttp.Reply redirect = ask(uri, "redirect");
      String cause = "%s, -Dseed=%s".formatted(uri, seed);

      assertThat(List.of(resolved.status(), redirect.status())).as(cause).isSubsetOf(200, 403);
      if (resolved.status() == 200) {
        resolves++;
        String path = header(resolved, "X-Resolved-URI").split("\\?", 2)[0];
        assertThat(BARE.matcher(path).find() && !path.startsWith("/orders/2/"))
            .as("%s: %s", cause, path)
            .isFalse();
      }
      if (header(redirect, "X-Coatcheck-Status").equals("308")) {
        redirects++;
        String location = header(redirect, "Location");
        assertThat(location).as(cause).matches("/[^/\\\\ ].*").contains(id);
        assertThat(header(redirect, "Link")).as(cause).matches("<[^<>]*>; rel=\"canonical\"");
        assertThat(resolved.status()).as(cause).isEqualTo(200);
        assertThat(header(ask(location, "redirect"), "X-Resolved-URI"))
            .as(cause)
            .isEqualTo(header(resolved, "X-Resolved-URI"));
      }
    }
    assertThat(redirects).as("-Dseed=%s", seed).isGreaterThan(10);
    assertThat(resolves).as("-Dseed=%s", seed).isGreaterThan(redirects);
  }

  private String uri() {
    StringBuilder uri = new StringBuilder(random.nextInt(3) == 0 ? "" : "/orders/7");
    for (int left = random.nextInt(4); left > 0; left--) {
      uri.append(PIECES[random.nextInt(PIECES.length)]);
    }
    return uri.toString().replace("ID", id);
  }

  /** From one address after the other, so that none is taken for a scan. */
  private RawHttp.Reply ask(String uri, String legacy) throws IOException {
    List<String> lines =
        new ArrayList<>(
            List.of(
                "GET /v1/urls/auth-request HTTP/1.1",
                "Host: gateway",
                "Connection: close",
                "Authorization: Bearer " + GATEWAY.key(),
                "X-Original-URI: " + (uri.isEmpty() ? "/" : uri),
                "X-Coatcheck-Legacy: " + legacy,
                "X-Coatcheck-Bare-Keys: refuse",
                "X-Forwarded-For: 10." + random.nextInt(256) + "." + random.nextInt(256) + ".1"));
    return RawHttp.send("127.0.0.1", GATEWAY.uri().getPort(), RawHttp.request(lines, new byte[0]));
  }

  private static String header(RawHttp.Reply reply, String name) {
    return String.join(" and ", reply.headers().getOrDefault(name, List.of()));
  }
}
