package dev.coatcheck.api.body;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.JsonRoutes;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import java.io.EOFException;
import java.util.Optional;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * A request whose body is collected. It is passed to the routes with its body, or answered without
 * them.
 */
final class GatedRequest {
  private final BodyGate gate;
  private final Observer observer;
  private final JsonRoutes.Route route;
  private final Request request;
  private final Response response;
  private final Callback callback;
  private final long begunNano = System.nanoTime();

  GatedRequest(
      BodyGate gate,
      Observer observer,
      JsonRoutes.Route route,
      Request request,
      Response response,
      Callback callback) {
    this.gate = gate;
    this.observer = observer;
    this.route = route;
    this.request = request;
    this.response = response;
    this.callback = callback;
  }

  Request request() {
    return request;
  }

  Response response() {
    return response;
  }

  JsonRoutes.Route route() {
    return route;
  }

  /** The whole body has arrived, or there is none. */
  void complete(byte[] body) {
    RequestBody.keep(request, body);
    gate.handOn(request, response, callback);
  }

  /** The refusal of a body that is announced as too large; it may never come. */
  Optional<Problem> announcedTooLarge() {
    return request.getLength() > route.bytesMax() ? Optional.of(tooLarge()) : Optional.empty();
  }

  void tooLarge(boolean isAllRead) {
    refuse(tooLarge(), isAllRead);
  }

  private Problem tooLarge() {
    return Problem.of(
        ProblemCode.PAYLOAD_TOO_LARGE,
        "The body may have at most "
            + route.bytesMax()
            + (route.isForm() ? " bytes." : " bytes. Send fewer items in a request."));
  }

  void noMemory(boolean isAllRead) {
    observer.observe(new Event.RequestShed(route.path()));
    refuse(
        Problem.unavailable(
            ProblemCode.OVERLOADED,
            "Too many request bodies are being read, from this API key or in total."),
        isAllRead);
  }

  void tooSlow(boolean isAllRead) {
    refuse(
        Problem.of(
            ProblemCode.REQUEST_TIMEOUT,
            "Send the body with at least 1 KiB a second and without a pause of 5 seconds."),
        isAllRead);
  }

  /** The client disconnected. */
  void broken(Throwable cause) {
    callback.failed(cause);
  }

  /**
   * Answers without the routes.
   *
   * @param isAllRead false if more of the body may come; then the connection ends with the answer
   */
  void refuse(Problem problem, boolean isAllRead) {
    if (!isAllRead) {
      response.getHeaders().put(HttpHeader.CONNECTION, "close");
    }
    refuse(problem, () -> end(isAllRead));
  }

  /**
   * Answers without the routes, then reads and drops the rest of the body. If the connection ended
   * instead, a client that still sends would lose the answer and its next request.
   */
  void refuse(Problem problem, WaitingBody body) {
    refuse(problem, () -> drop(body));
  }

  /** Reads and drops the rest of the body of a request that is answered. */
  void drop(WaitingBody body) {
    body.drop(this::end);
  }

  private void refuse(Problem problem, Runnable afterwards) {
    Answer answer = route.isForm() ? Endpoints.page(problem, true) : Answer.of(problem);
    answer.send(request, response, Callback.from(afterwards, callback::failed));
    observer.observe(
        new Event.RequestServed(
            request.getMethod(), route.path(), answer.status(), System.nanoTime() - begunNano));
  }

  private void end(boolean isAllRead) {
    if (isAllRead) {
      callback.succeeded();
    } else {
      // A success would make Jetty log that it still waits for the body.
      callback.failed(new EOFException("the body was given up"));
    }
  }
}
