package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.routes.Asked;
import dev.coatcheck.api.routes.IdProblems;
import dev.coatcheck.api.routes.LegacyHeaders;
import dev.coatcheck.ids.redirect.LegacyPaused;
import dev.coatcheck.ids.redirect.RedirectOutcome;
import dev.coatcheck.ids.redirect.ScanGuard;
import java.util.List;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;

/** Answers to clients without an API key who follow public IDs and legacy IDs. */
final class LegacyAnswers {
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
        .with(LegacyHeaders.of(location, notice));
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
      case LegacyPaused paused -> IdProblems.legacyPaused(paused);
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
      case RedirectOutcome.Over over -> LegacyHeaders.of(over.notice());
      case LegacyPaused paused -> LegacyHeaders.of(paused.notice());
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
}
