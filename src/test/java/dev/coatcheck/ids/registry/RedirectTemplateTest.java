package dev.coatcheck.ids.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.Key;
import java.net.URI;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedirectTemplateTest {
  private static final PublicId ID = new PublicId(new Prefix("ch"), new Token(0, 0));
  private static final Key KEY = new Key.Bigint(42);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "https://shop.example/charges/{id}",
        "https://shop.example?{id}",
        "https://shop.example#{id}",
        "https://shop.example",
        "https://[2001:db8::1]:8443/{id}",
        "https://1.2.3.4/{id}",
        "http://localhost:3000/{id}",
        "http://127.0.0.1:3000/{id}",
        "https://shop.example//{id}",
        "https://shop.example/%0d%0a{id}"
      })
  void acceptsAbsoluteUrlsWithALiteralAuthority(String template) {
    assertThat(RedirectTemplate.parse(template, RedirectHosts.any()))
        .isInstanceOf(RedirectTemplate.Parsed.Accepted.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/charges/{id}",
        "//evil.example/{id}",
        "\\\\evil.example\\{id}",
        "https:/shop.example/{id}",
        "javascript:alert(1)",
        "http://shop.example/{id}",
        "HTTPS://shop.example/{id}",
        "https://user@shop.example/{id}",
        "https://shop.example@evil.example/{id}",
        "https://{id}.shop.example/",
        "{id}://shop.example/",
        "https://shop.example:{id}/",
        "https://shop.example:0/{id}",
        "https://shop.example:65536/{id}",
        "https://Shop.example/{id}",
        "https://shop..example/{id}",
        "https://-shop.example/{id}",
        "https://shop.example./{id}",
        "https:// shop.example/{id}",
        "https://shop.example/{id}\r\nSet-Cookie: a=b",
        "https://shop.example/{id}\u0000",
        "https://sh\u00f6p.example/{id}",
        "https://shop.example/{token}",
        "https://shop.example/{id",
        "https://shop.example/{id}|",
        "https://shop.example/%zz",
        "https://[::1/{id}",
        "https://[nonsense]/{id}",
        "https:///{id}"
      })
  void refusesEverythingElse(String template) {
    assertThat(RedirectTemplate.parse(template, RedirectHosts.any()))
        .isInstanceOf(RedirectTemplate.Parsed.Refused.class);
  }

  @Test
  void theListOfHostsIsAnAllowList() {
    RedirectHosts hosts = RedirectHosts.parse("shop.example, shop.example:8443,http://dev.example");

    assertThat(accepted("https://shop.example/{id}", hosts)).isTrue();
    assertThat(accepted("https://shop.example:8443/{id}", hosts)).isTrue();
    assertThat(accepted("http://dev.example/{id}", hosts)).isTrue();
    assertThat(accepted("https://shop.example:9443/{id}", hosts)).isFalse();
    assertThat(accepted("http://shop.example/{id}", hosts)).isFalse();
    assertThat(accepted("https://a.shop.example/{id}", hosts)).isFalse();
    assertThat(accepted("http://localhost/{id}", hosts)).isFalse();
  }

  @Test
  void fillsItsPlaceholders() {
    String text = "https://shop.example/c/{id}?key={key}&again={id}";
    RedirectTemplate template =
        ((RedirectTemplate.Parsed.Accepted) RedirectTemplate.parse(text, RedirectHosts.any()))
            .template();

    assertThat(template.fill(ID, KEY))
        .isEqualTo(
            "https://shop.example/c/ch_00000000000000000000002B?key=42"
                + "&again=ch_00000000000000000000002B");
  }

  @Test
  void noTemplateLeadsOffItsAuthority() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    String alphabet = "htps:/\\@#?[]{}.%0aid=key\t\r\n\u0000\u2025-_x1";
    int acceptedCount = 0;
    for (int i = 0; i < 200_000; i++) {
      StringBuilder text = new StringBuilder(random.nextBoolean() ? "https://a.example" : "");
      for (int n = random.nextInt(24); n > 0; n--) {
        text.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      if (RedirectTemplate.parse(text.toString(), RedirectHosts.any())
          instanceof RedirectTemplate.Parsed.Accepted(RedirectTemplate template)) {
        acceptedCount++;
        URI location = URI.create(template.fill(ID, KEY));
        assertThat(location.getScheme()).as("seed %d: %s", seed, text).matches("https?");
        assertThat(location.getRawUserInfo()).as("seed %d: %s", seed, text).isNull();
        assertThat(text.toString())
            .as("seed %d", seed)
            .startsWith(location.getScheme() + "://" + location.getRawAuthority());
      }
    }
    assertThat(acceptedCount).as("seed %d", seed).isGreaterThan(100);
  }

  private static boolean accepted(String template, RedirectHosts hosts) {
    return RedirectTemplate.parse(template, hosts) instanceof RedirectTemplate.Parsed.Accepted;
  }
}
