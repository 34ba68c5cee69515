package dev.coatcheck.api.console;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.ConsoleSessions;
import dev.coatcheck.ids.redirect.Visitor;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.Optional;
import java.util.regex.Pattern;

/** Signs people in with an API key, and out. */
final class SignInPages {
  static final String PATH = "/console/sign-in";

  private static final String SESSION = "/console/session";
  private static final String NEXT = "next";

  /** Pages of the console only, so that a link can't send people elsewhere after the sign-in. */
  private static final Pattern NEXT_ALLOWED =
      Pattern.compile("/console(/[A-Za-z0-9_/-]{1,200})?(\\?[A-Za-z0-9=&%._~+*-]{0,2000})?");

  private final Gate gate;
  private final ConsoleSessions sessions;
  private final WrongKeys wrongKeys;

  SignInPages(Gate gate, ConsoleSessions sessions, WrongKeys wrongKeys) {
    this.gate = gate;
    this.sessions = sessions;
    this.wrongKeys = wrongKeys;
  }

  void register(Endpoints endpoints) {
    endpoints.page(HandlerType.GET, PATH, gate.open(this::show));
    endpoints.page(HandlerType.POST, SESSION, gate.openForm(this::begin));
    endpoints.page(HandlerType.POST, SESSION + "/end", gate.form((_, visit, _) -> end(visit)));
  }

  private Answer show(Context ctx) {
    String next = next(Query.of(ctx, NEXT).text(NEXT));
    return gate.visit(ctx).isPresent()
        ? Html.seeOther(next)
        : page(ctx, 200, next, Optional.empty());
  }

  private Answer begin(Context ctx) {
    Form form = Form.read(ctx);
    String next = next(form.text(NEXT));
    if (!gate.isPrivate(ctx)) {
      return page(ctx, 403, next, Optional.empty());
    }
    Visitor visitor = gate.visitor(ctx);
    if (!wrongKeys.mayTry(visitor)) {
      return page(
              ctx,
              429,
              next,
              Optional.of("Too many wrong API keys from this address. Try again in a minute."))
          .with("Retry-After", Integer.toString(WrongKeys.WINDOW_SECONDS));
    }
    Optional<Caller> caller =
        form.text("key").flatMap(sessions::holder).filter(holder -> gate.mayComeFrom(ctx, holder));
    if (caller.isEmpty()) {
      return page(
              ctx,
              401,
              next,
              Optional.of(
                  "This is no valid API key, or it may not be used from this address. A key has"
                      + " the form ccg_live_…, and may have expired or been revoked."))
          .with("WWW-Authenticate", "Bearer realm=\"coatcheck\"");
    }
    wrongKeys.forget(visitor);
    ConsoleSessions.Token token = sessions.begin(caller.get(), gate.actor(ctx, caller.get()));
    return Html.seeOther(next).with("Set-Cookie", Gate.cookie(token));
  }

  private Answer end(Visit visit) {
    sessions.end(visit.session(), visit.actor());
    return Html.seeOther(PATH).with("Set-Cookie", Gate.noCookie());
  }

  private Answer page(Context ctx, int status, String next, Optional<String> fault) {
    boolean isPrivate = gate.isPrivate(ctx);
    return Html.page(
        status,
        (out, none) ->
            JtesignInGenerated.render(
                out, none, Frame.outside("Sign in"), next, isPrivate, fault.orElse("")));
  }

  private static String next(Optional<String> wanted) {
    return wanted.filter(NEXT_ALLOWED.asMatchPredicate()).orElse(ConsoleRoutes.HOME);
  }
}
