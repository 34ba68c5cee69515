package dev.coatcheck.api.routes;

import dev.coatcheck.ids.redirect.RedirectOutcome;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.eclipse.jetty.http.HttpField;

/** The headers that announce the end of a type's legacy IDs. */
public final class LegacyHeaders {
  private static final DateTimeFormatter HTTP_DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  /** A longer one, besides the location itself, would not fit into the headers of an answer. */
  private static final int CANONICAL_LENGTH_MAX = 4_500;

  private LegacyHeaders() {}

  /** What goes with the answer about a legacy ID, besides a redirect. */
  public static List<HttpField> of(RedirectOutcome.Notice notice) {
    return of(notice, notice.sunsetLink().map(LegacyHeaders::sunset).stream().toList());
  }

  /**
   * What goes with a redirect.
   *
   * @param location a URL with a public ID; angle brackets in its query would end the link early
   */
  public static List<HttpField> of(String location, RedirectOutcome.Notice notice) {
    String canonical = location.replace("<", "%3C").replace(">", "%3E");
    return of(
        notice,
        Stream.concat(
                Stream.of(canonical)
                    .filter(url -> url.length() <= CANONICAL_LENGTH_MAX)
                    .map(url -> "<" + url + ">; rel=\"canonical\""),
                notice.sunsetLink().map(LegacyHeaders::sunset).stream())
            .toList());
  }

  private static String sunset(String link) {
    return "<" + link + ">; rel=\"sunset\"";
  }

  /**
   * RFC 9745 has a date as structured fields spell it, RFC 8594 as HTTP spells it. All links are
   * one header, because a second one would take the place of the first.
   */
  private static List<HttpField> of(RedirectOutcome.Notice notice, List<String> links) {
    List<HttpField> headers = new ArrayList<>();
    notice
        .deprecatedAt()
        .map(at -> new HttpField("Deprecation", "@" + at.getEpochSecond()))
        .ifPresent(headers::add);
    notice
        .sunsetAt()
        .map(at -> new HttpField("Sunset", HTTP_DATE.format(at)))
        .ifPresent(headers::add);
    if (!links.isEmpty()) {
      headers.add(new HttpField("Link", String.join(", ", links)));
    }
    return headers;
  }
}
