package dev.coatcheck.api.server;

import io.javalin.http.Context;
import org.eclipse.jetty.server.Request;

/** The name of one request, by which an answer is found in the log. */
public final class RequestId {
  /** The header of the answer, and the attribute of the request. */
  public static final String NAME = "Request-Id";

  private RequestId() {}

  /** Of a request that has passed the edge. */
  public static String of(Context ctx) {
    return String.valueOf(ctx.req().getAttribute(NAME));
  }

  public static String of(Request request) {
    return String.valueOf(request.getAttribute(NAME));
  }
}
