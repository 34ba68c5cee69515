package dev.coatcheck.api.exchange;

import dev.coatcheck.core.id.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.eclipse.jetty.http.HttpField;

/**
 * Small pages for people: without scripts, with nothing from other sites, and with one style, whose
 * hash is in their policy. They are UTF-8.
 */
public final class Page {
  public static final String CONTENT_TYPE = "text/html;charset=utf-8";

  private static final String STYLE =
      """
      :root{color-scheme:light dark;--ink:#1d2b33;--paper:#fbfaf6;--link:#0b6280}
      @media(prefers-color-scheme:dark){:root{--ink:#e6eaec;--paper:#15242b;--link:#8ecae6}}
      body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--paper);\
      color:var(--ink);font:18px/1.5 system-ui,sans-serif}
      main{max-width:34rem;padding:2rem;overflow-wrap:anywhere}
      h1{margin:0 0 .5em;font-size:1.6em;line-height:1.25}
      a{color:var(--link)}
      """;

  private static final String POLICY =
      "default-src 'none'; style-src 'sha256-"
          + Base64.getEncoder().encodeToString(Sha256.of(STYLE))
          + "'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  /** The headers of every page, besides its type. */
  public static final List<HttpField> HEADERS =
      List.of(
          new HttpField("Content-Security-Policy", POLICY),
          new HttpField("X-Robots-Tag", "noindex"));

  private static final byte[] BEFORE_LANGUAGE = utf8("<!doctype html>\n<html lang=\"");
  private static final byte[] BEFORE_HEAD =
      utf8(
          """
          ">
          <head>
          <meta charset="utf-8">
          <meta name="viewport" content="width=device-width, initial-scale=1">
          <style>%s</style>
          """
              .formatted(STYLE));
  private static final byte[] BEFORE_BODY = utf8("\n</head>\n<body>\n<main>\n");
  private static final byte[] END = utf8("\n</main>\n</body>\n</html>\n");

  private Page() {}

  /**
   * A page that says one thing. Each browser finds the direction of the texts itself.
   *
   * @param title plain text, like {@code text}
   */
  public static byte[] of(String language, String title, String text) {
    String heading = escaped(title);
    return html(
        language,
        "<title>" + heading + "</title>",
        "<h1 dir=\"auto\">" + heading + "</h1>\n<p dir=\"auto\">" + escaped(text) + "</p>");
  }

  /**
   * A page.
   *
   * @param head what the head has besides the style, as HTML
   * @param main the content, as HTML
   */
  public static byte[] html(String language, String head, String main) {
    byte[][] parts = {
      BEFORE_LANGUAGE, utf8(language), BEFORE_HEAD, utf8(head), BEFORE_BODY, utf8(main), END
    };
    int length = 0;
    for (byte[] part : parts) {
      length += part.length;
    }
    ByteBuffer page = ByteBuffer.allocate(length);
    for (byte[] part : parts) {
      page.put(part);
    }
    return page.array();
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
