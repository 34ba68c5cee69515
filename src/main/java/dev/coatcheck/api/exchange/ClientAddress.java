package dev.coatcheck.api.exchange;

import dev.coatcheck.ids.access.Proxies;
import io.javalin.http.Context;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.eclipse.jetty.server.Request;

/** The address of the client of a request, the only one that counts in rights, limits and logs. */
public final class ClientAddress {
  /** Of no client: only the range of all addresses contains it. */
  private static final InetAddress UNKNOWN = InetAddress.ofLiteral("0.0.0.0");

  private ClientAddress() {}

  /** The last address on the way that is none of the proxies. */
  public static InetAddress of(Request request, Proxies proxies) {
    InetAddress socket = socket(request);
    return proxies.trust(socket)
        ? proxies.client(socket, request.getHeaders().getValuesList("X-Forwarded-For"))
        : socket;
  }

  /** Same, for a request on a route. */
  public static InetAddress of(Context ctx, Proxies proxies) {
    return of(RequestAccess.request(ctx), proxies);
  }

  private static InetAddress socket(Request request) {
    return request.getConnectionMetaData().getRemoteSocketAddress()
                instanceof InetSocketAddress socket
            && socket.getAddress() != null
        ? socket.getAddress()
        : UNKNOWN;
  }
}
