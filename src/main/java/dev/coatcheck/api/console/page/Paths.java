package dev.coatcheck.api.console.page;

import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;

/** The paths of pages that others lead to. */
public final class Paths {
  public static final String HOME = Section.FIND.path();
  public static final String SIGN_IN = "/console/sign-in";

  /** The parameter that names the page to go on with. */
  public static final String NEXT = "next";

  /** The parameter that says what the end of a session has undone: a form that was sent. */
  public static final String LOST = "lost";

  /** Pages of the console only, so that a link can't send people elsewhere. */
  private static final Pattern NEXT_ALLOWED =
      Pattern.compile("/console(/[A-Za-z0-9_/-]{1,200})?(\\?[A-Za-z0-9=&%._~+*-]{0,2000})?");

  private Paths() {}

  /** The page that says what a text is. */
  public static String find(String text) {
    return HOME + "?q=" + encoded(text);
  }

  /** The page to go on with: the wanted one, if it is one of the console. */
  public static String next(Optional<String> wanted) {
    return wanted.filter(NEXT_ALLOWED.asMatchPredicate()).orElse(HOME);
  }

  /** The page of a request, with its parameters. */
  static String of(Context ctx) {
    return ctx.path() + (ctx.queryString() == null ? "" : "?" + ctx.queryString());
  }

  /** The same; empty for the answer to a form, which no other request gets again. */
  static String again(Context ctx) {
    return ctx.method().equals(HandlerType.POST) ? "" : of(ctx);
  }

  /** A text within a query or a path. */
  public static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
