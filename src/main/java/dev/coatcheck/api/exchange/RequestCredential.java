package dev.coatcheck.api.exchange;

import dev.coatcheck.ids.access.Credential;
import java.util.Optional;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;

/** The credential of a request, stored in it. */
public final class RequestCredential {
  private static final String NAME = "credential";

  private RequestCredential() {}

  /** The credential, parsed by the first call for a request. */
  public static Credential of(Request request) {
    if (request.getAttribute(NAME) instanceof Credential read) {
      return read;
    }
    Credential read =
        Credential.of(Optional.ofNullable(request.getHeaders().get(HttpHeader.AUTHORIZATION)));
    request.setAttribute(NAME, read);
    return read;
  }
}
