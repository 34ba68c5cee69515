package dev.coatcheck.api.exchange;

import io.javalin.http.Context;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/** The ID of a request, in its answer and in the log. */
public final class RequestId {
  /** The header of the answer, and the attribute of the request. */
  private static final String NAME = "Request-Id";

  private RequestId() {}

  /** Stores the ID in a request, and adds the header to its answer. */
  public static void set(Request request, Response response, String id) {
    request.setAttribute(NAME, id);
    response.getHeaders().put(NAME, id);
  }

  public static boolean isSet(Request request) {
    return request.getAttribute(NAME) != null;
  }

  /** The ID of a request that has passed the edge. */
  public static String of(Context ctx) {
    return String.valueOf(ctx.req().getAttribute(NAME));
  }

  public static String of(Request request) {
    return String.valueOf(request.getAttribute(NAME));
  }
}
