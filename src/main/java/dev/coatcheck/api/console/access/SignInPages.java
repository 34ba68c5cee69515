package dev.coatcheck.api.console.access;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Paths;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.ConsoleSessions;
import dev.coatcheck.ids.redirect.Visitor;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.Optional;

/** Signs people in with an API key, and out. */
public final class SignInPages {
  private static final String SESSION = "/console/session";

  private final Gate gate;
  private final ConsoleSessions sessions;
  private final WrongKeys wrongKeys;

  public SignInPages(Gate gate, ConsoleSessions sessions) {
    this.gate = gate;
    this.sessions = sessions;
    this.wrongKeys = new WrongKeys(System::nanoTime);
  }

  public void register(Endpoints endpoints) {
    endpoints.page(HandlerType.GET, Paths.SIGN_IN, gate.open(this::show));
    endpoints.page(HandlerType.POST, SESSION, gate.openForm(this::begin));
    endpoints.page(HandlerType.POST, SESSION + "/end", gate.form((_, visit, _) -> end(visit)));
  }

  private Answer show(Context ctx) {
    String next = Paths.next(Query.of(ctx, Paths.NEXT).text(Paths.NEXT));
    return gate.visit(ctx).isPresent()
        ? Html.seeOther(next)
        : page(ctx, 200, next, Optional.empty());
  }

  private Answer begin(Context ctx) {
    Form form = Form.read(ctx);
    String next = Paths.next(form.text(Paths.NEXT));
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
    return Html.seeOther(Paths.SIGN_IN).with("Set-Cookie", Gate.noCookie());
  }

  private Answer page(Context ctx, int status, String next, Optional<String> fault) {
    boolean isPrivate = gate.isPrivate(ctx);
    return Html.page(
        status,
        (out, none) ->
            JtesignInGenerated.render(
                out, none, Gate.outside(ctx, "Sign in"), next, isPrivate, fault.orElse("")));
  }
}
