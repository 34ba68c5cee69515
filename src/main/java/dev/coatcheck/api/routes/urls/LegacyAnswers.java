package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.ids.redirect.RedirectOutcome;
import dev.coatcheck.ids.redirect.ScanGuard;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;

/** Answers to clients without an API key who follow public IDs and legacy IDs. */
final class LegacyAnswers {
  private static final DateTimeFormatter HTTP_DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  private LegacyAnswers() {}

  static Answer of(RedirectOutcome outcome, Asked asked) {
    return switch (outcome) {
      case RedirectOutcome.To(
              String target,
              int status,
              int maxAgeSeconds,
              Optional<RedirectOutcome.Notice> notice) ->
          notice
              .map(ofLegacyId -> redirect(status, target, maxAgeSeconds, ofLegacyId))
              .orElseGet(() -> Answer.redirect(status, target, maxAgeSeconds));
      case RedirectOutcome.Refused refused -> DeadLinkPages.of(refused, asked);
    };
  }

  /** A redirect to a URL with a public ID, which is the one to keep. */
  static Answer redirect(
      int status, String location, int maxAgeSeconds, RedirectOutcome.Notice notice) {
    return Answer.redirect(status, location, maxAgeSeconds)
        .with(headers(notice))
        .with(canonical(location));
  }

  /** A query may hold angle brackets, behind which it would name a URL of its own. */
  static List<HttpField> canonical(String location) {
    String target = location.replace("<", "%3C").replace(">", "%3E");
    return List.of(new HttpField("Link", "<" + target + ">; rel=\"canonical\""));
  }

  static Answer refused(RedirectOutcome.Refused refused) {
    return Answer.of(problem(refused)).with(headers(refused));
  }

  static Problem problem(RedirectOutcome.Refused refused) {
    return switch (refused) {
      case RedirectOutcome.Over _ ->
          Problem.of(
              ProblemCode.LEGACY_IDS_GONE,
              "Legacy IDs of this type are no longer supported. Use the public ID.");
      case RedirectOutcome.Gone _ -> UrlProblems.gone();
      case RedirectOutcome.Scanning(int seconds) ->
          Problem.retryAfter(
              ProblemCode.ABNORMAL_USAGE_DETECTED,
              "This address asked for too many legacy IDs, consecutive or unknown ones above all."
                  + " Wait for the time in Retry-After, or call GET /v1/legacy with an API key,"
                  + " which has no limit.",
              seconds);
      case RedirectOutcome.NotFound _ -> UrlProblems.notFound();
    };
  }

  /** What goes with the problem. */
  static List<HttpField> headers(RedirectOutcome.Refused refused) {
    return switch (refused) {
      case RedirectOutcome.Over over -> headers(over.notice());
      case RedirectOutcome.Scanning(int seconds) -> rateLimit(seconds);
      case RedirectOutcome.Gone _, RedirectOutcome.NotFound _ -> List.of();
    };
  }

  /** The headers are those of draft-ietf-httpapi-ratelimit-headers-10. */
  private static List<HttpField> rateLimit(int seconds) {
    return List.of(
        new HttpField(
            "RateLimit-Policy",
            "\"legacy\";q=" + ScanGuard.NUMBERS_MAX + ";w=" + ScanGuard.WINDOW_SECONDS),
        new HttpField("RateLimit", "\"legacy\";r=0;t=" + seconds));
  }

  /** RFC 9745 has a date as structured fields spell it, RFC 8594 as HTTP spells it. */
  static List<HttpField> headers(RedirectOutcome.Notice notice) {
    List<HttpField> headers = new ArrayList<>();
    notice
        .deprecatedAt()
        .map(at -> new HttpField("Deprecation", "@" + at.getEpochSecond()))
        .ifPresent(headers::add);
    notice
        .sunsetAt()
        .map(at -> new HttpField("Sunset", HTTP_DATE.format(at)))
        .ifPresent(headers::add);
    return headers;
  }
}
