package dev.coatcheck.api.console.page;

import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.ids.access.AddressRange;
import dev.coatcheck.ids.access.Proxies;
import io.javalin.http.Context;
import java.net.InetAddress;
import java.net.URI;
import java.util.Collections;
import java.util.List;

/** From where a browser sends a request, as far as the request tells. */
public final class RequestOrigin {
  private RequestOrigin() {}

  /**
   * Whether an API key may be typed here: over TLS, which a trusted proxy may end, or on this very
   * machine. Elsewhere browsers drop the cookie, and the network would see the key.
   */
  static boolean isPrivate(Context ctx, Proxies proxies) {
    if (ctx.req().isSecure()) {
      return true;
    }
    InetAddress nearest = AddressRange.literal(ctx.req().getRemoteAddr()).orElseThrow();
    return (proxies.trust(nearest)
            && Collections.list(ctx.req().getHeaders("X-Forwarded-Proto")).equals(List.of("https")))
        || isOnThisMachine(ctx);
  }

  /** Whether the browser runs on this very machine, as far as the connection and its host tell. */
  public static boolean isOnThisMachine(Context ctx) {
    return AddressRange.isLoopback(ctx.req().getRemoteAddr()) && isLoopbackName(ctx);
  }

  private static boolean isLoopbackName(Context ctx) {
    try {
      String host = URI.create("http://" + ctx.header("Host")).getHost();
      return host != null && AddressRange.isLoopback(host);
    } catch (IllegalArgumentException malformed) {
      return false;
    }
  }

  /** Browsers say from which site a form comes, and other sites can't say that it is ours. */
  static void requireOwnPage(Context ctx) {
    String origin = String.valueOf(ctx.header("Origin"));
    int authority = origin.indexOf("://") + 3;
    if (authority < 3 || !origin.substring(authority).equalsIgnoreCase(ctx.header("Host"))) {
      throw new Refusal(
          ProblemCode.FORBIDDEN, "This form comes from a page of another site. Nothing was done.");
    }
  }
}
