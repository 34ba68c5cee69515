package dev.coatcheck.api.console.page;

import dev.coatcheck.api.exchange.Answer;
import gg.jte.TemplateOutput;
import gg.jte.html.HtmlInterceptor;
import gg.jte.html.HtmlTemplateOutput;
import gg.jte.html.OwaspHtmlTemplateOutput;
import gg.jte.output.StringOutput;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpField;

/** Makes answers from templates, which write every text of a caller as text. */
public final class Html {
  /** Nothing from other hosts, no inline script or style, and in no frame. */
  static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src"
          + " 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

  /** With no referrer at all, the header Origin of a form would be {@code null}. */
  private static final List<HttpField> HEADERS =
      List.of(
          new HttpField("Content-Security-Policy", POLICY),
          new HttpField("Referrer-Policy", "same-origin"),
          new HttpField("Cross-Origin-Opener-Policy", "same-origin"),
          new HttpField("X-Robots-Tag", "noindex"));

  private Html() {}

  /** A compiled template with its parameters. */
  @FunctionalInterface
  public interface Template {
    void write(HtmlTemplateOutput out, HtmlInterceptor noInterceptor);
  }

  /** Required by templates, and called for no tag: none is named to their compiler. */
  private static final class NoInterceptor implements HtmlInterceptor {
    @Override
    public void onHtmlTagOpened(String name, Map<String, Object> attributes, TemplateOutput out) {}

    @Override
    public void onHtmlTagClosed(String name, TemplateOutput out) {}
  }

  public static Answer page(int status, Template template) {
    return Answer.page(status, text(template).getBytes(StandardCharsets.UTF_8)).with(HEADERS);
  }

  /** A part of a page that a template writes. */
  public static String text(Template template) {
    StringOutput text = new StringOutput();
    template.write(new OwaspHtmlTemplateOutput(text), new NoInterceptor());
    return text.toString();
  }

  /** Sends the browser on with a GET, after a form or to another page. */
  public static Answer seeOther(String path) {
    return Answer.redirect(303, path, 0).with(HEADERS);
  }
}
