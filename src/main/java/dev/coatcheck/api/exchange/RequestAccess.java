package dev.coatcheck.api.exchange;

import dev.coatcheck.ids.access.Access;
import dev.coatcheck.ids.access.AccessDecision;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.access.Scope;
import io.javalin.http.Context;
import java.net.InetAddress;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.server.Request;

/** Decides whether a request has access: by its API key and the address of its client. */
public final class RequestAccess {
  private final Access access;
  private final Proxies proxies;

  public RequestAccess(Access access, Proxies proxies) {
    this.access = access;
    this.proxies = proxies;
  }

  /** The decision as of now. Few keys need the address, which is found only then. */
  public AccessDecision decide(Request request, Scope needed) {
    return access.decide(
        RequestCredential.of(request), needed, () -> ClientAddress.of(request, proxies));
  }

  /** Same, for a request on a route. */
  public AccessDecision decide(Context ctx, Scope needed) {
    return decide(request(ctx), needed);
  }

  /** The client of a request: behind trusted proxies the address that they forward. */
  public InetAddress address(Context ctx) {
    return ClientAddress.of(ctx, proxies);
  }

  /** The request on a route as Jetty has it. */
  public static ServletContextRequest request(Context ctx) {
    return ServletContextRequest.getServletContextRequest(ctx.req());
  }
}
