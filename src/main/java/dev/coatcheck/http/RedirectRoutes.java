package dev.coatcheck.http;

import dev.coatcheck.legacy.RedirectOutcome;
import dev.coatcheck.legacy.Redirector;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;

/** {@code /r/{id}}: open to anyone, so whatever is no public redirect gets one and the same 404. */
final class RedirectRoutes {
  private final Redirector redirector;
  private final Problems problems;

  RedirectRoutes(Redirector redirector, Problems problems) {
    this.redirector = redirector;
    this.problems = problems;
  }

  void register(Endpoints endpoints) {
    endpoints.open(HandlerType.GET, "/r/{id}", this::redirect);
    endpoints.open(HandlerType.HEAD, "/r/{id}", this::redirect);
  }

  private void redirect(Context ctx) {
    switch (redirector.redirect(ctx.pathParam("id"))) {
      case RedirectOutcome.To to ->
          ctx.status(to.status())
              .header("Location", to.location())
              .header("Cache-Control", cacheControl(to.maxAgeSeconds()));
      case RedirectOutcome.NotFound _ ->
          problems.write(ctx, Problem.of(ProblemCode.NOT_FOUND, "This address leads nowhere."));
    }
  }

  private static String cacheControl(int maxAgeSeconds) {
    return maxAgeSeconds == 0 ? "no-store" : "public, max-age=" + maxAgeSeconds;
  }
}
