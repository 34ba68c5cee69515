package dev.coatcheck.api.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpField;
import org.junit.jupiter.api.Test;

class PageTest {
  private static final Pattern STYLE = Pattern.compile("(?s)<style>(.*?)</style>");

  @Test
  void thePolicyHasTheHashOfTheOnlyStyleAndNoScript() throws Exception {
    String page = text(Page.of("en", "Title", "Text"));
    String style =
        STYLE
            .matcher(page)
            .results()
            .map((MatchResult match) -> match.group(1))
            .reduce((_, _) -> "more than one")
            .orElseThrow();
    String hash =
        Base64.getEncoder()
            .encodeToString(
                MessageDigest.getInstance("SHA-256")
                    .digest(style.getBytes(StandardCharsets.UTF_8)));

    assertThat(header("Content-Security-Policy"))
        .startsWith("default-src 'none'; style-src 'sha256-" + hash + "'; ")
        .doesNotContain("script-src", "unsafe");
    assertThat(header("X-Robots-Tag")).isEqualTo("noindex");
    assertThat(page)
        .startsWith("<!doctype html>")
        .contains("prefers-color-scheme:dark")
        .doesNotContain("<script", "style=", "http:", "https:", "src=", "url(", "@import")
        .doesNotContainPattern(" on\\w+=");
  }

  @Test
  void textIsNeverMarkup() {
    String hostile = "</title><script>alert(1)</script> & \"a\" 'b' <b onclick=x>";

    String page = text(Page.of("en", hostile, hostile));

    assertThat(page)
        .doesNotContain("<script", "</title><script", "<b ", hostile, "\"a\"", "'b'")
        .contains(
            "<h1 dir=\"auto\">&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp;"
                + " &quot;a&quot; &#39;b&#39; &lt;b onclick=x&gt;</h1>");
    assertThat(page.split("&lt;script&gt;", -1)).hasSize(4); // title, heading and text
  }

  @Test
  void aPageOfItsOwnTextAllocatesLessThanItsBytesTwice() {
    Supplier<byte[]> page =
        () -> Page.of("en", "This offer has ended", "Our shop has more like it.");

    assertThat(allocated(page)).isLessThan(2L * page.get().length);
  }

  /** Bytes for each, once everything is compiled. */
  private static long allocated(Supplier<byte[]> work) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    int sum = 0;
    for (int i = 0; i < 20_000; i++) {
      sum += work.get().length;
    }
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 1_000; i++) {
      sum += work.get().length;
    }
    long bytes = (threads.getCurrentThreadAllocatedBytes() - before) / 1_000;
    assertThat(sum).isPositive();
    return bytes;
  }

  private static String header(String name) {
    return Page.HEADERS.stream()
        .filter(header -> header.getName().equals(name))
        .map(HttpField::getValue)
        .findFirst()
        .orElseThrow();
  }

  private static String text(byte[] page) {
    return new String(page, StandardCharsets.UTF_8);
  }
}
