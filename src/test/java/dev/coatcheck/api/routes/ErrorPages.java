package dev.coatcheck.api.routes;

import java.util.Map;
import java.util.regex.Pattern;

/** Writes the list of errors of the contract as a page and as Markdown. */
@SuppressWarnings("InlineFormatString") // a page is read whole, not between lines of code
final class ErrorPages {
  /** In Markdown, of which the page understands {@code **bold**} and {@code `code`}. */
  private static final String ABOUT =
      """
      Every error is an RFC 9457 problem with a stable `code`. Branch on the code, never on `title` or `detail`, which are for people and may be reworded. A code always has the same status, and each bad item of a batch has a code and a status too. `param` names the field, parameter or header with the error; `request_id` identifies the request in the log of the gateway.

      **With `Retry-After`, wait that long and send the same request again. Without `Retry-After`, correct the request, unless it is 408, 412 or 500.** `Retry-After` comes with 503, with 429 and with 409 `busy`. An answer never repeats input.

      Every request may be repeated safely, except those that make something new each time: a mint without `key`, `legacy_id`, `client_id` and `Idempotency-Key`, `POST /v1/keys`, `POST /v1/leases`, `POST /v1/access/keys` (look for the first key in `GET /v1/access/keys`, and revoke it), and a plan of a table migration without an `Idempotency-Key`.
      """;

  private static final String EXAMPLE =
      """
      HTTP/1.1 400 Bad Request
      Content-Type: application/problem+json
      Request-Id: req_227erxr6y2l3w

      {
        "type": "/docs/errors#public_id_malformed",
        "title": "Malformed public ID",
        "status": 400,
        "detail": "The last two characters do not match the rest: the ID has a typo.",
        "code": "public_id_malformed",
        "param": "id",
        "reason": "check",
        "position": 25,
        "request_id": "req_227erxr6y2l3w"
      }
      """;

  private static final String PAGE =
      """
      <!doctype html>
      <!-- Written from openapi/coatcheck.yaml by DocsPagesTest. -->
      <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Coatcheck errors</title>
        <link rel="icon" href="/docs/assets/favicon.svg" type="image/svg+xml">
        <link rel="stylesheet" href="/docs/assets/docs.css">
      </head>
      <body>
        <header class="bar">
          <a class="brand" href="/docs"><img src="/docs/assets/favicon.svg" alt="" width="28" height="28">Coatcheck</a>
          <nav>
            <a href="/docs">API</a>
            <a href="/docs/errors" aria-current="page">Errors</a>
            <a href="/openapi.yaml">openapi.yaml</a>
          </nav>
        </header>
        <main class="errors">
          <h1>Errors</h1>
      %s    <pre><code>%s</code></pre>
      %s  </main>
      </body>
      </html>
      """;

  private static final String SECTION =
      """
          <section class="code" id="%1$s">
            <h3><a href="#%1$s">%1$s</a><span>%2$s</span><b>%3$d</b></h3>
            <dl>
              <dt>Means</dt><dd>%4$s</dd>
              <dt>Next</dt><dd>%5$s</dd>
            </dl>
          </section>
      """;

  private static final String MANUAL =
      """
      # Errors

      <!-- Written from openapi/coatcheck.yaml by DocsPagesTest. -->

      %s
      ```http
      %s```
      %s\
      """;

  private ErrorPages() {}

  /** The page {@code /docs/errors}. */
  static String html(Map<String, ProblemRules.Code> codes) {
    StringBuilder sections = new StringBuilder();
    String group = "";
    for (Map.Entry<String, ProblemRules.Code> entry : codes.entrySet()) {
      ProblemRules.Code code = entry.getValue();
      if (!group.equals(code.group())) {
        group = code.group();
        sections.append("\n    <h2>").append(group).append("</h2>\n");
      }
      sections.append(
          SECTION.formatted(
              entry.getKey(),
              escaped(code.title()),
              code.status(),
              marked(code.meaning()),
              marked(code.next())));
    }
    StringBuilder about = new StringBuilder();
    ABOUT
        .strip()
        .lines()
        .filter(line -> !line.isEmpty())
        .forEach(line -> about.append("    <p>").append(marked(line)).append("</p>\n"));
    return PAGE.formatted(about, escaped(EXAMPLE.strip()), sections);
  }

  /** {@code docs/errors.md}. */
  static String markdown(Map<String, ProblemRules.Code> codes) {
    StringBuilder sections = new StringBuilder();
    String group = "";
    for (Map.Entry<String, ProblemRules.Code> entry : codes.entrySet()) {
      ProblemRules.Code code = entry.getValue();
      if (!group.equals(code.group())) {
        group = code.group();
        sections.append("\n## ").append(group).append('\n');
      }
      sections.append(
          "\n### %s\n\n%s, status %d. %s\n\nNext: %s\n"
              .formatted(entry.getKey(), code.title(), code.status(), code.meaning(), code.next()));
    }
    return MANUAL.formatted(ABOUT, EXAMPLE, sections);
  }

  private static String marked(String text) {
    String bold =
        Pattern.compile("\\*\\*(.+?)\\*\\*").matcher(escaped(text)).replaceAll("<b>$1</b>");
    return Pattern.compile("`(.+?)`").matcher(bold).replaceAll("<code>$1</code>");
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
