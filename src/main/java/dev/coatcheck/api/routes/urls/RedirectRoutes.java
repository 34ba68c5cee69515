package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.OpenRoute;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.ids.redirect.Proxies;
import dev.coatcheck.ids.redirect.Redirector;
import dev.coatcheck.ids.redirect.Visitor;
import io.javalin.http.Context;
import java.util.Collections;
import java.util.function.Function;

/** Redirects from public IDs, those of older systems too, open to anyone: {@code /r/{id}}. */
public final class RedirectRoutes implements Routes {

  private final Redirector redirector;
  private final Proxies proxies;

  public RedirectRoutes(Redirector redirector, Proxies proxies) {
    this.redirector = redirector;
    this.proxies = proxies;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.open(OpenRoute.REDIRECT, this::redirect);
  }

  private Answer redirect(Context ctx) {
    return redirect(
        ctx.pathParam("id"),
        known ->
            known.visitor(
                ctx.req().getRemoteAddr(),
                Collections.list(ctx.req().getHeaders(LegacyRoutes.FORWARDED_FOR))));
  }

  /**
   * What {@link OpenRoute#REDIRECT} answers.
   *
   * @param visitor asked for only if it matters, which it does to legacy IDs
   */
  public Answer redirect(String id, Function<Proxies, Visitor> visitor) {
    return LegacyAnswers.of(redirector.redirect(id, () -> visitor.apply(proxies)));
  }
}
