package dev.coatcheck.api.body;

import java.util.Optional;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpHeaderValue;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/**
 * A request whose body is not collected: its route reads it, or nothing does. If it is refused,
 * what was not read is read and dropped after the answer, when its route holds neither a thread nor
 * a permit any more.
 */
final class StreamedRequest extends Request.Wrapper {
  private final Response response;
  private final Supplier<Optional<WaitingBody>> open;
  private Optional<WaitingBody> rest = Optional.empty();

  /**
   * @param open the body, to be dropped; empty if there is no memory for it
   */
  StreamedRequest(Request request, Response response, Supplier<Optional<WaitingBody>> open) {
    super(request);
    this.response = response;
    this.open = open;
  }

  /** Asked before the answer is sent: after a false, it says that the connection ends. */
  @Override
  public boolean consumeAvailable() {
    boolean isRefused =
        response.getStatus() >= 400
            && !response
                .getHeaders()
                .contains(HttpHeader.CONNECTION, HttpHeaderValue.CLOSE.asString());
    if (isRefused && rest.isEmpty()) {
      rest = open.get();
    }
    return (isRefused && rest.isPresent()) || super.consumeAvailable();
  }

  /** The body, if it has to be dropped. */
  Optional<WaitingBody> rest() {
    return rest;
  }
}
