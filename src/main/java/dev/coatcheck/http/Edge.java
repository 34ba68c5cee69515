package dev.coatcheck.http;

import dev.coatcheck.id.RandomSource;
import io.javalin.http.Context;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * The outermost handler. Gives each request its ID and refuses what no route should have to look
 * at: methods we don't speak, too many headers, headers that are ambiguous or hold odd characters,
 * paths that are encoded twice.
 */
final class Edge extends Handler.Wrapper {
  static final String REQUEST_ID = "Request-Id";

  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS");
  private static final List<String> SINGLE_HEADERS = List.of("Authorization", "Idempotency-Key");
  private static final Pattern HEADER_VALUE = Pattern.compile("[\\x20-\\x7e]{1,255}");
  private static final int HEADERS_MAX = 100;

  /** What two programs in a row may read in two ways. No path of ours needs it. */
  private static final Pattern AMBIGUOUS =
      Pattern.compile("(?i)%(00|25|2f|5c)|[;\\\\]|/\\.{1,2}(/|$)|%2e");

  private final RandomSource random;

  Edge(RandomSource random) {
    this.random = random;
  }

  @Override
  public boolean handle(Request request, Response response, Callback callback) throws Exception {
    String requestId = newRequestId();
    request.setAttribute(REQUEST_ID, requestId);
    response.getHeaders().put(REQUEST_ID, requestId);
    Optional<Problem> refusal = refusal(request);
    if (refusal.isEmpty()) {
      return super.handle(request, response, callback);
    }
    send(response, callback, refusal.get(), requestId, request.getMethod().equals("HEAD"));
    return true;
  }

  /** The ID of a request that has passed here. */
  static String requestId(Context ctx) {
    return String.valueOf(ctx.req().getAttribute(REQUEST_ID));
  }

  String newRequestId() {
    return "req_" + Long.toUnsignedString(random.nextLong(), 36);
  }

  /** Writes a problem without a servlet around it. */
  static void send(
      Response response, Callback callback, Problem problem, String requestId, boolean bodyless) {
    byte[] body = Problems.body(problem, requestId);
    response.setStatus(problem.code().status());
    response.getHeaders().put(REQUEST_ID, requestId);
    response.getHeaders().put("Content-Type", Problems.CONTENT_TYPE);
    response.getHeaders().put("Cache-Control", "no-store");
    response.getHeaders().put("Content-Length", Integer.toString(body.length));
    if (bodyless) {
      callback.succeeded();
    } else {
      response.write(true, ByteBuffer.wrap(body), callback);
    }
  }

  private static Optional<Problem> refusal(Request request) {
    if (!METHODS.contains(request.getMethod())) {
      return Optional.of(
          Problem.of(ProblemCode.METHOD_NOT_ALLOWED, "This method is not supported anywhere."));
    }
    HttpFields headers = request.getHeaders();
    if (headers.size() > HEADERS_MAX) {
      return Optional.of(
          Problem.of(
              ProblemCode.HEADERS_TOO_LARGE, "A request has at most " + HEADERS_MAX + " headers."));
    }
    if (request.getHttpURI().getCanonicalPath() == null
        || AMBIGUOUS.matcher(request.getHttpURI().getPath()).find()) {
      return Optional.of(
          Problem.of(
              ProblemCode.PATH_INVALID,
              "The path holds a dot segment, a parameter, or an encoded slash, percent or NUL."));
    }
    return SINGLE_HEADERS.stream()
        .flatMap(name -> headerRefusal(headers, name).stream())
        .findFirst();
  }

  private static Optional<Problem> headerRefusal(HttpFields headers, String name) {
    List<HttpField> fields = headers.getFields(name);
    boolean sound =
        fields.isEmpty()
            || (fields.size() == 1
                && fields.getFirst().getValue() != null
                && HEADER_VALUE.matcher(fields.getFirst().getValue()).matches());
    return sound
        ? Optional.empty()
        : Optional.of(
            Problem.at(
                ProblemCode.HEADER_INVALID,
                name,
                "Send this header once, with 1 to 255 visible ASCII characters."));
  }
}
