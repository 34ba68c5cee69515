package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.Breakage;
import dev.coatcheck.BrokenBy;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.RedirectTemplate;
import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.databind.json.JsonMapper;

/** Promise 12: redirects go only where the operator configured. */
class RedirectFuzzTest {
  private static final String[] ALLOWED = {"shop.example", "shop.example:8443"};
  private static final String[] STARTS = {
    "https://",
    "https:/",
    "HTTPS://",
    "http://",
    "//",
    "\\\\",
    "https:\\\\",
    "javascript:",
    "https://u:p@",
    "https://{id}@",
    ""
  };
  private static final String[] AUTHORITIES = {
    "shop.example", "shop.example:8443", "shop.example:80",
    "evil.example", "shop.example@evil.example", "{id}.example",
    "shop.example.evil.example", "shop.example%2eevil.example", "shop.example\\.evil.example",
    "[::1]", "shop.example:{key}", "SHOP.example",
    "shop.example.", ""
  };
  private static final String[] PIECES = {
    "/", "//", "\\", "/{id}", "/{key}", "{id}",
    "{key}", "?to={id}", "?next=https://evil.example", "#{id}", "@evil.example", "/..",
    "/../..", "/%0d%0aLocation:x", ":443", ".evil.example", ";", "&",
    "%2f", "%00", "{{id}}", "{id", "}", "é",
    " ", "\t", "\r\n", "<", "\"", "|",
    "^"
  };

  private final long seed = Long.getLong("seed", System.nanoTime());
  private final Random random = new Random(seed);

  @Test
  @BrokenBy("any-template")
  void noTemplateLeadsAwayFromItsHosts() {
    RedirectHosts hosts = RedirectHosts.parse(String.join(",", ALLOWED));
    int led = 0;
    for (int i = 0; i < 30_000; i++) {
      String text = template();
      PublicId id =
          new PublicId(new Prefix("ch"), Token.of(new UUID(random.nextLong(), random.nextLong())));
      Key key =
          random.nextBoolean()
              ? new Key.Bigint(random.nextLong() >>> 1)
              : new Key.Uuid(new UUID(random.nextLong(), random.nextLong()));
      switch (RedirectTemplate.parse(text, hosts)) {
        case RedirectTemplate.Parsed.Accepted(RedirectTemplate template) -> {
          assertLeadsHome(template.fill(id, key), text);
          led++;
        }
        case RedirectTemplate.Parsed.Refused _ -> {
          if (Breakage.current().equals("any-template")) {
            assertLeadsHome(text.replace("{id}", id.toString()).replace("{key}", key.text()), text);
          }
        }
      }
    }
    assertThat(led).as("-Dseed=%s", seed).isGreaterThan(100);
  }

  @TestFactory
  Stream<DynamicTest> itFindsItsDefect() {
    return Breakage.requireRed(this);
  }

  @Test
  void noRequestLeadsAwayFromThem() throws IOException {
    try (GatewayFixture gateway =
        GatewayFixture.own("COATCHECK_REDIRECT_HOSTS", String.join(",", ALLOWED))) {
      List<String> paths = paths(gateway);
      int led = 0;
      for (int i = 0; i < 400; i++) {
        List<String> lines = request(paths.get(random.nextInt(paths.size())));
        for (String location : locations(gateway, lines)) {
          assertLeadsHome(location, String.join(" | ", lines));
          led++;
        }
      }
      assertThat(led).as("-Dseed=%s", seed).isGreaterThan(100);
    }
  }

  /** As strictly as any browser: what comes after the scheme up to the path is an allowed host. */
  private void assertLeadsHome(String location, String cause) {
    assertThat(location.chars().allMatch(c -> c > 0x20 && c < 0x7f && c != '\\'))
        .as("%s of %s, -Dseed=%s", location, cause, seed)
        .isTrue();
    assertThat(location).as("%s, -Dseed=%s", cause, seed).startsWith("https://");
    assertThat(location.substring("https://".length()).split("[/?#\\\\]", 2)[0])
        .as("%s of %s, -Dseed=%s", location, cause, seed)
        .isIn((Object[]) ALLOWED);
  }

  private String template() {
    StringBuilder text = new StringBuilder();
    text.append(random.nextBoolean() ? "https://" : one(STARTS));
    text.append(random.nextBoolean() ? one(ALLOWED) : one(AUTHORITIES));
    for (int left = random.nextInt(4); left > 0; left--) {
      text.append(one(PIECES));
    }
    return text.toString();
  }

  /** Registers hostile templates; the public addresses of one thing of each type that got one. */
  private List<String> paths(GatewayFixture gateway) {
    JsonMapper json = new JsonMapper();
    TestClient client = gateway.client().hostile();
    List<String> paths = new ArrayList<>();
    for (int i = 0; i < 200 && paths.size() < 24; i++) {
      String body =
          json.writeValueAsString(
              Map.of(
                  "prefix",
                  "p" + i,
                  "key",
                  "bigint",
                  "legacy",
                  Map.of(),
                  "redirect",
                  Map.of("template", template(), "expose_key", true)));
      int status = client.put("/v1/types/t" + i, body).status();
      if (status == 201) {
        String id =
            gateway
                .client()
                .mint("t" + String.valueOf(i), "key", "1", "legacy_id", "7")
                .text("/id");
        paths.add("/r/" + id);
        paths.add("/legacy/t" + i + "/7");
      }
    }
    return paths;
  }

  private List<String> request(String path) {
    String query =
        one(
            "",
            "",
            "?next=https://evil.example",
            "?id=//evil.example",
            "?{id}",
            "?%0d%0aLocation:%20https://evil.example");
    List<String> lines = new ArrayList<>();
    lines.add((random.nextBoolean() ? "GET " : "HEAD ") + path + query + " HTTP/1.1");
    lines.add(
        "Host: "
            + one(
                "gateway",
                "evil.example",
                "evil.example:443",
                "shop.example@evil.example",
                "[::1]"));
    lines.add("Connection: close");
    for (String header :
        List.of(
            "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: javascript",
            "X-Forwarded-For: 192.0.2.7", "X-Forwarded-Prefix: //evil.example",
            "X-Original-URL: //evil.example", "X-Rewrite-URL: //evil.example",
            "Forwarded: host=evil.example;proto=http", "Referer: https://evil.example/")) {
      if (random.nextInt(3) == 0) {
        lines.add(header);
      }
    }
    return lines;
  }

  private static List<String> locations(GatewayFixture gateway, List<String> lines)
      throws IOException {
    try {
      RawHttp.Reply reply =
          RawHttp.send("127.0.0.1", gateway.uri().getPort(), RawHttp.request(lines, new byte[0]));
      return reply.headers().getOrDefault("Location", List.of());
    } catch (EOFException hungUp) {
      return List.of();
    }
  }

  private String one(String... values) {
    return values[random.nextInt(values.length)];
  }
}
