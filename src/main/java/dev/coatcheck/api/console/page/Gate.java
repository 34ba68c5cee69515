package dev.coatcheck.api.console.page;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.ClientAddress;
import dev.coatcheck.api.exchange.Failures;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestId;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Handler;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.ids.access.Caller;
import dev.coatcheck.ids.access.ConsoleSessions;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.redirect.Visitor;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Optional;
import java.util.function.Function;

/** Decides who sees a page and whose forms count, and turns each failure into a page. */
public final class Gate {
  /** A browser keeps a cookie of this name only from this very host, and only if it is secure. */
  static final String COOKIE = "__Host-coatcheck";

  private static final String OUTAGE = "The database is not available now. Try again in a moment.";
  private static final String NOTHING_CHANGED =
      "The database is not available now, and nothing was changed. Send the form again in a"
          + " moment.";

  private static final String NO_ANSWER = "The database didn't answer. ";
  private static final String BUG =
      "The gateway failed; its log has the details under the request ID. ";

  private static final String COOKIE_RULES = "; Path=/; Secure; HttpOnly; SameSite=Strict";

  private final ConsoleMode mode;
  private final ConsoleSessions sessions;
  private final Proxies proxies;
  private final Failures failures;

  public Gate(ConsoleMode mode, ConsoleSessions sessions, Proxies proxies, Failures failures) {
    this.mode = mode;
    this.sessions = sessions;
    this.proxies = proxies;
    this.failures = failures;
  }

  /** Answers a person who is signed in. */
  @FunctionalInterface
  public interface PageHandler {
    Answer answer(Context ctx, Visit visit) throws Exception;
  }

  /** Answers the form of a person who is signed in. */
  @FunctionalInterface
  public interface FormHandler {
    Answer answer(Context ctx, Visit visit, Form form) throws Exception;
  }

  /** A page before the sign-in. */
  public Handler open(Handler handler) {
    return open(handler, OUTAGE);
  }

  private Handler open(Handler handler, String outage) {
    return ctx -> {
      try {
        return handler.answer(ctx);
      } catch (RuntimeException thrown) {
        return failed(ctx, thrown, outage, Optional.empty());
      }
    };
  }

  /** A form before the sign-in. */
  public Handler openForm(Handler handler) {
    return openForm(handler, OUTAGE);
  }

  private Handler openForm(Handler handler, String outage) {
    return open(
        ctx -> {
          RequestOrigin.requireOwnPage(ctx);
          return handler.answer(ctx);
        },
        outage);
  }

  /** A page for those who are signed in; others are asked to sign in first. */
  public Handler page(PageHandler handler) {
    return open(
        ctx ->
            visit(ctx)
                .map(visit -> answered(ctx, visit, OUTAGE, () -> handler.answer(ctx, visit)))
                .orElseGet(() -> Html.seeOther(signIn(ctx))));
  }

  /**
   * A stream of a page that moves. Those who may not see it are told to load the page again, which
   * says why: a browser can't read another answer to a stream, and would ask for it for ever.
   */
  public Handler stream(PageHandler handler) {
    return open(
        ctx -> {
          try {
            Optional<Visit> visit = visit(ctx);
            return visit.isEmpty() ? Live.reload() : handler.answer(ctx, visit.get());
          } catch (Refusal refused) {
            return switch (refused.problem().code().status()) {
              case 403, 404 -> Live.reload();
              default -> throw refused;
            };
          }
        });
  }

  /** As {@link #page}, for those who may change what needs the scope. */
  public Handler change(Scope needed, PageHandler handler) {
    return page(
        (ctx, visit) -> {
          requireChange(visit, needed);
          return handler.answer(ctx, visit);
        });
  }

  /**
   * A form of one of our pages, from the session that has the page; without any, to the sign-in.
   */
  public Handler form(FormHandler handler) {
    return form(handler, OUTAGE, _ -> Paths.SIGN_IN);
  }

  /**
   * @param outage what the page says if Postgres can't be asked
   * @param signIn where those without a session are sent
   */
  private Handler form(FormHandler handler, String outage, Function<Context, String> signIn) {
    return openForm(
        ctx ->
            visit(ctx)
                .map(
                    visit ->
                        answered(
                            ctx,
                            visit,
                            outage,
                            () -> {
                              Form form = Form.read(ctx);
                              requireToken(form, visit);
                              return handler.answer(ctx, visit, form);
                            }))
                .orElseGet(() -> Html.seeOther(signIn.apply(ctx))),
        outage);
  }

  /**
   * As {@link #form}, for those who may change what needs the scope. The sign-in says that nothing
   * was done, and leads to the page with the form.
   */
  private Handler changeForm(Scope needed, FormHandler handler) {
    return form(
        (ctx, visit, form) -> {
          requireChange(visit, needed);
          return handler.answer(ctx, visit, form);
        },
        NOTHING_CHANGED,
        ctx -> signIn(ctx) + "&" + Paths.LOST + "=form");
  }

  /**
   * Serves a page with a form, and the form.
   *
   * @param needed what a person's API key needs, in a console that isn't read-only
   */
  public <S> void register(Endpoints endpoints, String path, Scope needed, FormPage<S> page) {
    endpoints.page(
        HandlerType.GET,
        path,
        change(
            needed,
            (ctx, visit) -> {
              Query.none(ctx);
              return Html.page(
                  200, page.page(visit, page.subject(ctx, visit), Form.EMPTY, Optional.empty()));
            }));
    endpoints.page(
        HandlerType.POST,
        path,
        changeForm(
            needed,
            (ctx, visit, form) -> {
              S subject = page.subject(ctx, visit);
              try {
                return page.change(visit, subject, form);
              } catch (Refusal | JsonFault thrown) {
                Problem why = failures.problem(thrown, RequestId.of(ctx));
                return page(why, page.page(visit, subject, form, Optional.of(why)));
              } catch (RuntimeException thrown) {
                String inDoubt = page.inDoubt(subject);
                return failed(ctx, thrown, NO_ANSWER + inDoubt, BUG + inDoubt, Optional.of(visit));
              }
            }));
  }

  /** Who is signed in; the session is over once its API key may not be used from the address. */
  public Optional<Visit> visit(Context ctx) {
    return Optional.ofNullable(ctx.cookie(COOKIE))
        .flatMap(sessions::find)
        .filter(session -> mayComeFrom(ctx, session.caller()))
        .map(
            session ->
                new Visit(
                    session, mode, actor(ctx, session.caller()), Theme.of(ctx), Paths.again(ctx)));
  }

  public boolean mayComeFrom(Context ctx, Caller caller) {
    return caller.rights().mayComeFrom(client(ctx));
  }

  /** Whose tries to sign in are counted together. */
  public Visitor visitor(Context ctx) {
    return Visitor.at(client(ctx));
  }

  public Actor actor(Context ctx, Caller caller) {
    return new Actor(
        caller.principal(),
        Optional.of(caller.keyId()),
        Optional.of(client(ctx).getHostAddress()),
        Optional.of(RequestId.of(ctx)));
  }

  /** Where the browser is, as far as trusted proxies tell; to be asked while the request lasts. */
  public InetAddress client(Context ctx) {
    return ClientAddress.of(ctx, proxies);
  }

  /** Whether an API key may be typed here. */
  public boolean isPrivate(Context ctx) {
    return RequestOrigin.isPrivate(ctx, proxies);
  }

  /** Makes the browser keep the token of a session. */
  public static String cookie(ConsoleSessions.Token token) {
    return COOKIE
        + "="
        + token.text()
        + COOKIE_RULES
        + "; Max-Age="
        + ConsoleSessions.LIFETIME.toSeconds();
  }

  /** Makes the browser drop its cookie. */
  public static String noCookie() {
    return COOKIE + "=" + COOKIE_RULES + "; Max-Age=0";
  }

  private static void requireToken(Form form, Visit visit) {
    byte[] sent = form.text(Form.TOKEN).orElse("").getBytes(StandardCharsets.UTF_8);
    if (!MessageDigest.isEqual(sent, visit.formToken().getBytes(StandardCharsets.UTF_8))) {
      throw new Refusal(
          ProblemCode.FORBIDDEN,
          "This form comes from an earlier session. Nothing was done; load its page again.");
    }
  }

  private static void requireChange(Visit visit, Scope needed) {
    if (visit.mode() != ConsoleMode.ON) {
      throw new Refusal(
          ProblemCode.FORBIDDEN,
          "This console is read-only (COATCHECK_CONSOLE). Nothing was done.");
    }
    require(visit, needed, " Nothing was done.");
  }

  /** Refuses to show a page unless the API key has the scope. */
  public static void require(Visit visit, Scope needed) {
    require(visit, needed, "");
  }

  private static void require(Visit visit, Scope needed, String consequence) {
    if (!visit.rights().may(needed)) {
      throw new Refusal(
          ProblemCode.FORBIDDEN,
          "Your API key lacks the scope " + needed.name() + "." + consequence);
    }
  }

  /** The sign-in, after which the page of the request is shown. */
  private static String signIn(Context wanted) {
    String next = Paths.of(wanted);
    return next.equals(Paths.HOME)
        ? Paths.SIGN_IN
        : Paths.SIGN_IN + "?" + Paths.NEXT + "=" + Paths.encoded(next);
  }

  /** The frame of a page before the sign-in. */
  public static Frame outside(Context ctx, String title) {
    return new Frame(title, Theme.of(ctx), Paths.again(ctx), Optional.empty(), Optional.empty());
  }

  @FunctionalInterface
  private interface Work {
    Answer answer() throws Exception;
  }

  private Answer answered(Context ctx, Visit visit, String outage, Work work) {
    try {
      return work.answer();
    } catch (Exception thrown) {
      return failed(ctx, thrown, outage, Optional.of(visit));
    }
  }

  private Answer failed(Context ctx, Throwable thrown, String outage, Optional<Visit> visit) {
    return failed(ctx, thrown, outage, BUG + "Try again in a moment.", visit);
  }

  private Answer failed(
      Context ctx, Throwable thrown, String outage, String bug, Optional<Visit> visit) {
    Problem problem = failures.problem(thrown, RequestId.of(ctx));
    String title = problem.code().title();
    String detail =
        thrown instanceof DatabaseUnavailable
            ? outage
            : problem.code() == ProblemCode.INTERNAL ? bug : problem.detail();
    Frame frame =
        visit.map(who -> who.frame(title, Optional.empty())).orElseGet(() -> outside(ctx, title));
    return page(
        problem,
        (out, none) -> JterefusedGenerated.render(out, none, frame, detail, RequestId.of(ctx)));
  }

  private static Answer page(Problem problem, Html.Template template) {
    return Html.page(problem.code().status(), template).withRetryAfterOf(problem);
  }
}
