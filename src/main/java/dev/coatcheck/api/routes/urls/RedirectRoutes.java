package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.routes.Asked;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.OpenRoute;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.redirect.Redirector;

/**
 * Redirects of public IDs and legacy IDs, open to anyone: {@code /r/{id}}, {@code
 * /legacy/{type}/{n}}.
 */
public final class RedirectRoutes implements Routes {
  private final Redirector redirector;
  private final Proxies proxies;

  public RedirectRoutes(Redirector redirector, Proxies proxies) {
    this.redirector = redirector;
    this.proxies = proxies;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.open(OpenRoute.REDIRECT, ctx -> redirect(ctx.pathParam("id"), Asked.openly(ctx)));
    endpoints.open(
        OpenRoute.LEGACY,
        ctx -> follow(ctx.pathParam("type"), ctx.pathParam("n"), Asked.openly(ctx)));
  }

  /** What {@link OpenRoute#REDIRECT} answers. */
  public Answer redirect(String id, Asked asked) {
    return LegacyAnswers.of(redirector.redirect(id, asked.caller(proxies)), asked);
  }

  /**
   * What {@link OpenRoute#LEGACY} answers. A text that is no number tells nothing about types,
   * unless it is an older public ID of a type whose links are public.
   */
  public Answer follow(String type, String n, Asked asked) {
    return redirector
        .follow(type, n, asked.caller(proxies))
        .map(outcome -> LegacyAnswers.of(outcome, asked))
        .orElseGet(() -> DeadLinkPages.notFound(Answer.of(Parameters.legacyMalformed("n")), asked));
  }
}
