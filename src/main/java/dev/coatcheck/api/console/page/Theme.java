package dev.coatcheck.api.console.page;

import dev.coatcheck.core.name.WireNamed;
import io.javalin.http.Context;
import java.time.Duration;
import java.util.Optional;

/** Whether pages are light or dark. A browser keeps its choice in a cookie. */
public enum Theme implements WireNamed {
  /** As the browser prefers. */
  AUTO,
  LIGHT,
  DARK;

  /** Not secret, and no session: the page before the sign-in has it too. */
  private static final String COOKIE = "coatcheck-theme";

  static Theme of(Context ctx) {
    return Optional.ofNullable(ctx.cookie(COOKIE))
        .flatMap(name -> WireNamed.find(Theme.class, name))
        .orElse(AUTO);
  }

  /** Makes the browser keep this choice. */
  String cookie() {
    return COOKIE
        + "="
        + wireName()
        + "; Path=/console; HttpOnly; SameSite=Strict; Max-Age="
        + Duration.ofDays(365).toSeconds();
  }
}
