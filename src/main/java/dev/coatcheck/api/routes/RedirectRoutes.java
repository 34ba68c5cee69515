package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.RequestId;
import dev.coatcheck.ids.redirect.RedirectOutcome;
import dev.coatcheck.ids.redirect.Redirector;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.Optional;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpHeader;

/** {@code /r/{id}}: open to anyone, so whatever is no public redirect gets one and the same 404. */
public final class RedirectRoutes {
  public static final String PATH = "/r/{id}";

  private static final byte[] NOTHING = {};

  private final Redirector redirector;

  public RedirectRoutes(Redirector redirector) {
    this.redirector = redirector;
  }

  public void register(Endpoints endpoints) {
    endpoints.open(HandlerType.GET, PATH, this::redirect);
    endpoints.open(HandlerType.HEAD, PATH, this::redirect);
  }

  /** What {@link #PATH} answers, where memory alone decides; never waits. */
  public Optional<Answer> answerIfCached(String id, String requestId) {
    return redirector.redirectIfCached(id).map(outcome -> answer(outcome, requestId));
  }

  private void redirect(Context ctx) {
    answer(redirector.redirect(ctx.pathParam("id")), RequestId.of(ctx)).send(ctx);
  }

  private static Answer answer(RedirectOutcome outcome, String requestId) {
    return switch (outcome) {
      case RedirectOutcome.To to ->
          new Answer(
              to.status(),
              "text/plain",
              List.of(
                  new HttpField(HttpHeader.LOCATION, to.location()),
                  new HttpField(HttpHeader.CACHE_CONTROL, cacheControl(to.maxAgeSeconds()))),
              NOTHING);
      case RedirectOutcome.Gone _ -> gone(requestId);
      case RedirectOutcome.NotFound _ -> notFound(requestId);
    };
  }

  /** What every public address that leads nowhere answers. */
  static Answer notFound(String requestId) {
    return Problems.answer(
        Problem.of(ProblemCode.NOT_FOUND, "This address leads nowhere."), requestId);
  }

  /** What a public address answers whose public ID was revoked. */
  static Answer gone(String requestId) {
    return Problems.answer(
        Problem.of(ProblemCode.PUBLIC_ID_REVOKED, "This address led somewhere, once."), requestId);
  }

  static String cacheControl(int maxAgeSeconds) {
    return maxAgeSeconds == 0 ? "no-store" : "public, max-age=" + maxAgeSeconds;
  }
}
