package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.OpenRoute;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.ids.redirect.Proxies;
import dev.coatcheck.ids.redirect.Redirector;
import dev.coatcheck.ids.redirect.Visitor;
import io.javalin.http.Context;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

/**
 * Redirects of public IDs and legacy IDs, open to anyone: {@code /r/{id}}, {@code
 * /legacy/{type}/{n}}.
 */
public final class RedirectRoutes implements Routes {
  public static final String FORWARDED_FOR = "X-Forwarded-For";

  private final Redirector redirector;
  private final Proxies proxies;

  public RedirectRoutes(Redirector redirector, Proxies proxies) {
    this.redirector = redirector;
    this.proxies = proxies;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.open(OpenRoute.REDIRECT, ctx -> redirect(ctx.pathParam("id"), () -> visitor(ctx)));
    endpoints.open(
        OpenRoute.LEGACY, ctx -> follow(ctx.pathParam("type"), ctx.pathParam("n"), visitor(ctx)));
  }

  private Visitor visitor(Context ctx) {
    return visitor(
        ctx.req().getRemoteAddr(), Collections.list(ctx.req().getHeaders(FORWARDED_FOR)));
  }

  /**
   * Who asks.
   *
   * @param client the address of the connection
   * @param forwardedFor the values of {@link #FORWARDED_FOR}
   */
  public Visitor visitor(String client, List<String> forwardedFor) {
    return proxies.visitor(client, forwardedFor);
  }

  /**
   * What {@link OpenRoute#REDIRECT} answers.
   *
   * @param visitor asked for only if it matters, which it does to legacy IDs
   */
  public Answer redirect(String id, Supplier<Visitor> visitor) {
    return LegacyAnswers.of(redirector.redirect(id, visitor));
  }

  /**
   * What {@link OpenRoute#LEGACY} answers. A text that is no number tells nothing about types,
   * unless it is an older public ID of a type whose links are public.
   */
  public Answer follow(String type, String n, Visitor visitor) {
    return redirector
        .follow(type, n, visitor)
        .map(LegacyAnswers::of)
        .orElseGet(() -> Answer.of(Parameters.legacyMalformed("n")));
  }
}
