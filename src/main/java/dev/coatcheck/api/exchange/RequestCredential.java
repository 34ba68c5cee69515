package dev.coatcheck.api.exchange;

import dev.coatcheck.ids.access.Credential;
import io.javalin.http.Context;
import java.util.Optional;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;

/** The credential of one request, kept with it. */
public final class RequestCredential {
  private static final String NAME = "credential";

  private RequestCredential() {}

  /** The credential, which the first call for a request reads. */
  public static Credential of(Request request) {
    if (request.getAttribute(NAME) instanceof Credential read) {
      return read;
    }
    Credential read =
        Credential.of(Optional.ofNullable(request.getHeaders().get(HttpHeader.AUTHORIZATION)));
    request.setAttribute(NAME, read);
    return read;
  }

  /** The credential of a request that may have been decided about before its route. */
  public static Credential of(Context ctx) {
    return ctx.req().getAttribute(NAME) instanceof Credential read
        ? read
        : Credential.of(Optional.ofNullable(ctx.header("Authorization")));
  }
}
