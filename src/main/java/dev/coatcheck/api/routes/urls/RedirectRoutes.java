package dev.coatcheck.api.routes.urls;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.ids.redirect.RedirectOutcome;
import dev.coatcheck.ids.redirect.Redirector;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;

/** Redirects from public IDs, open to anyone: {@code /r/{id}}. */
public final class RedirectRoutes implements Routes {
  public static final String PATH = "/r/{id}";

  private final Redirector redirector;

  public RedirectRoutes(Redirector redirector) {
    this.redirector = redirector;
  }

  @Override
  public void register(Endpoints endpoints) {
    endpoints.open(HandlerType.GET, PATH, this::redirect);
    endpoints.open(HandlerType.HEAD, PATH, this::redirect);
  }

  private Answer redirect(Context ctx) {
    return redirect(ctx.pathParam("id"));
  }

  /** What {@link #PATH} answers. */
  public Answer redirect(String id) {
    return switch (redirector.redirect(id)) {
      case RedirectOutcome.To(String location, int status, int maxAgeSeconds) ->
          Answer.redirect(status, location, maxAgeSeconds);
      case RedirectOutcome.Gone _ -> Answer.of(UrlProblems.gone());
      case RedirectOutcome.NotFound _ -> Answer.of(UrlProblems.notFound());
    };
  }
}
