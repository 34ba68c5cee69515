package dev.coatcheck.api.console.access;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Paths;
import dev.coatcheck.api.console.page.RequestOrigin;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.server.Endpoints;
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
  private final Optional<SignInLink> link;

  /**
   * @param link that signs in too; empty for none
   */
  public SignInPages(Gate gate, ConsoleSessions sessions, Optional<SignInLink> link) {
    this.gate = gate;
    this.sessions = sessions;
    this.link = link;
    this.wrongKeys = new WrongKeys(System::nanoTime);
  }

  public void register(Endpoints endpoints) {
    endpoints.page(HandlerType.GET, Paths.SIGN_IN, gate.open(this::show));
    endpoints.page(HandlerType.POST, SESSION, gate.openForm(this::begin));
    endpoints.page(HandlerType.POST, SESSION + "/end", gate.form((_, visit, _) -> end(visit)));
    link.ifPresent(
        one -> {
          endpoints.page(HandlerType.GET, SignInLink.PATH, gate.open(ctx -> showLink(ctx, one)));
          endpoints.page(HandlerType.POST, SignInLink.PATH, gate.openForm(ctx -> use(ctx, one)));
        });
  }

  private Answer show(Context ctx) {
    Query query = Query.of(ctx, Paths.NEXT, Paths.LOST);
    String next = Paths.next(query.text(Paths.NEXT));
    return gate.visit(ctx).isPresent()
        ? Html.seeOther(next)
        : page(
            ctx,
            200,
            next,
            query.text(Paths.LOST).map(_ -> "Your session is over. Nothing was done."));
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
    Optional<Answer> begun = form.text("key").flatMap(key -> begun(ctx, key, next));
    if (begun.isEmpty()) {
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
    return begun.get();
  }

  /** Begins a session with the API key, if it is valid and may be used from this address. */
  private Optional<Answer> begun(Context ctx, String key, String next) {
    return sessions
        .holder(key)
        .filter(holder -> gate.mayComeFrom(ctx, holder))
        .map(holder -> sessions.begin(holder, gate.actor(ctx, holder)))
        .map(token -> Html.seeOther(next).with("Set-Cookie", Gate.cookie(token)));
  }

  /** Only the form of this page uses the link up, so programs that look at links don't. */
  private Answer showLink(Context ctx, SignInLink one) {
    String next = Paths.next(Query.of(ctx, Paths.NEXT).text(Paths.NEXT));
    String secret = ctx.pathParam("secret");
    return RequestOrigin.isOnThisMachine(ctx) && one.isGood(secret)
        ? linkPage(ctx, 200, next, ctx.path())
        : linkPage(ctx, 410, next, "");
  }

  private Answer use(Context ctx, SignInLink one) {
    String next = Paths.next(Form.read(ctx).text(Paths.NEXT));
    return Optional.of(ctx.pathParam("secret"))
        .filter(_ -> RequestOrigin.isOnThisMachine(ctx))
        .flatMap(secret -> one.use(secret, key -> begun(ctx, key, next)))
        .orElseGet(() -> linkPage(ctx, 410, next, ""));
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

  /**
   * @param path of the link; empty if it does not sign in any more
   */
  private static Answer linkPage(Context ctx, int status, String next, String path) {
    return Html.page(
        status,
        (out, none) ->
            JtesignInLinkGenerated.render(out, none, Gate.outside(ctx, "Sign in"), next, path));
  }
}
