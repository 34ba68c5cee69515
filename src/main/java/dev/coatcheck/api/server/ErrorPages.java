package dev.coatcheck.api.server;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.RequestId;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.jspecify.annotations.Nullable;

/** Sends our problems for requests that Jetty itself refuses, such as a broken request line. */
final class ErrorPages extends ErrorHandler {
  private final Edge edge;

  ErrorPages(Edge edge) {
    this.edge = edge;
  }

  @Override
  public boolean errorPageForMethod(String method) {
    return true;
  }

  @Override
  protected void generateResponse(
      Request request,
      Response response,
      int status,
      @Nullable String message,
      @Nullable Throwable cause,
      Callback callback) {
    if (RequestId.isSet(request)) {
      Edge.mark(request, response, RequestId.of(request)); // Jetty has dropped the headers
    } else {
      edge.identify(request, response);
    }
    if (closes(status)) {
      response.getHeaders().put(HttpHeader.CONNECTION, "close");
    }
    Answer.of(problem(status)).send(request, response, callback);
  }

  /** After these statuses Jetty closes the connection, and has to tell the client. */
  private static boolean closes(int status) {
    return switch (status) {
      case 400, 408, 414, 426, 431, 505 -> true;
      default -> false;
    };
  }

  private static Problem problem(int status) {
    return switch (status) {
      case 404 -> Problem.noSuchPath();
      case 405 -> Problem.wrongMethod();
      case 408 ->
          Problem.of(ProblemCode.REQUEST_TIMEOUT, "The request came too slowly, or stopped.");
      case 413 ->
          Problem.of(
              ProblemCode.PAYLOAD_TOO_LARGE,
              "The body is too large. Send fewer items in a request.");
      case 414 -> Problem.of(ProblemCode.URI_TOO_LONG, "A URI has at most 8,000 bytes.");
      case 415 ->
          Problem.of(ProblemCode.UNSUPPORTED_MEDIA_TYPE, "Send application/json, uncompressed.");
      case 431 ->
          Problem.of(
              ProblemCode.HEADERS_TOO_LARGE,
              "Headers have at most 8,000 bytes, and there are at most 100.");
      case 503 ->
          Problem.unavailable(
              ProblemCode.OVERLOADED, "The gateway is stopping. Send the request again.");
      case 426, 505 ->
          Problem.of(ProblemCode.HTTP_VERSION_UNSUPPORTED, "Send the request as HTTP/1.1.");
      default ->
          status < 500
              ? Problem.of(ProblemCode.REQUEST_INVALID, "The request breaks the rules of HTTP.")
              : Problem.of(ProblemCode.INTERNAL, "Send the request again.");
    };
  }
}
