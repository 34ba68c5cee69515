package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Page;
import dev.coatcheck.api.routes.Asked;
import dev.coatcheck.ids.redirect.LegacyPaused;
import dev.coatcheck.ids.redirect.RedirectOutcome;
import dev.coatcheck.ids.registry.DeadLink;
import dev.coatcheck.ids.registry.RedirectTemplate;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;

/**
 * The pages that browsers get for links without a target, with the status and the headers of the
 * problem that all other clients get.
 */
final class DeadLinkPages {
  private static final byte[] NOT_FOUND =
      Page.of("en", "Page not found", "Check the link for missing or mistyped characters.");
  private static final byte[] ENDED =
      Page.of("en", "This link has ended", "It worked before, and was ended for good.");
  private static final byte[] TOO_MANY =
      Page.of("en", "Too many requests", "Wait a few minutes, then open the link again.");

  private static final byte[] PAUSED =
      Page.of(
          "en",
          "This link is paused",
          "Links of this kind will end soon, and are paused for a test. This one works again later."
              + " Look for the new address of the page.");

  private static final int FALLBACK_STATUS = 302;

  /** Also on the problem, so that a cache finds the same header on each answer for the link. */
  private static final HttpField BY_LANGUAGE =
      new HttpField(HttpHeader.VARY, "Accept, Accept-Language");

  private DeadLinkPages() {}

  static Answer of(RedirectOutcome.Refused refused, Asked asked) {
    Answer problem = LegacyAnswers.refused(refused);
    return switch (refused) {
      case RedirectOutcome.NotFound _ -> notFound(problem, asked);
      case RedirectOutcome.Scanning _ -> page(problem, TOO_MANY, asked);
      case LegacyPaused _ -> page(problem, PAUSED, asked);
      case RedirectOutcome.Gone(DeadLink link) -> ended(refused, problem, link, asked);
      case RedirectOutcome.Over(RedirectOutcome.Notice _, DeadLink link) ->
          ended(refused, problem, link, asked);
    };
  }

  /** The same page, whatever is wrong with the link. */
  static Answer notFound(Answer problem, Asked asked) {
    return page(problem, NOT_FOUND, asked);
  }

  private static Answer page(Answer problem, byte[] page, Asked asked) {
    return asked.prefersHtml() ? problem.as(page) : problem;
  }

  private static Answer ended(
      RedirectOutcome.Refused refused, Answer problem, DeadLink link, Asked asked) {
    return switch (link) {
      case DeadLink.Plain _ -> page(problem, ENDED, asked);
      case DeadLink.Fallback(RedirectTemplate target) ->
          asked.prefersHtml()
              ? Answer.redirect(FALLBACK_STATUS, target.toString(), 0)
                  .with(LegacyAnswers.headers(refused))
              : problem;
      case DeadLink.Texts texts -> {
        Answer byLanguage = problem.with(BY_LANGUAGE);
        yield asked.prefersHtml() ? own(byLanguage, texts, asked) : byLanguage;
      }
    };
  }

  private static Answer own(Answer problem, DeadLink.Texts texts, Asked asked) {
    String language = asked.language(texts.languages()).orElse(texts.defaultLanguage());
    DeadLink.Text text = texts.in(language);
    return problem
        .as(Page.of(language, text.title(), text.text()))
        .with("Content-Language", language);
  }
}
