package dev.coatcheck.api.exchange;

import io.javalin.http.Context;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Stream;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * The answer of a handler. Javalin and Jetty send the same answer in the same way, so a client
 * can't tell which of them served a request.
 *
 * <p>A problem contains the ID of its request, so its body is written only when it is sent or
 * stored.
 */
public final class Answer {
  private static final String JSON = "application/json";
  private static final String PROBLEM = "application/problem+json";
  private static final HttpField NO_STORE = new HttpField(HttpHeader.CACHE_CONTROL, "no-store");
  private static final byte[] NOTHING = {};

  /** For a handler that has already written its answer as a stream. */
  public static final Answer STREAMED = empty(200);

  private final int status;
  private final String contentType;
  private final List<HttpField> headers;
  private final Function<String, byte[]> body;

  private Answer(int status, String contentType, List<HttpField> headers, byte[] body) {
    this(status, contentType, headers, _ -> body);
  }

  private Answer(
      int status, String contentType, List<HttpField> headers, Function<String, byte[]> body) {
    this.status = status;
    this.contentType = contentType;
    this.headers = headers;
    this.body = body;
  }

  public static Answer json(int status, Object body) {
    return new Answer(status, JSON, List.of(NO_STORE), Json.write(body));
  }

  public static Answer empty(int status) {
    return new Answer(status, "text/plain", List.of(NO_STORE), NOTHING);
  }

  /** A text that is not JSON, which no cache keeps. */
  public static Answer content(String contentType, byte[] body) {
    return new Answer(200, contentType, List.of(NO_STORE), body);
  }

  /** A page that no cache keeps. */
  public static Answer page(int status, byte[] html) {
    return new Answer(status, Page.CONTENT_TYPE, List.of(NO_STORE), html);
  }

  /** A redirect that a cache may keep for {@code maxAgeSeconds}; 0 for not at all. */
  public static Answer redirect(int status, String location, int maxAgeSeconds) {
    return new Answer(
        status,
        "text/plain",
        List.of(
            new HttpField(HttpHeader.LOCATION, location),
            new HttpField(HttpHeader.CACHE_CONTROL, cacheControl(maxAgeSeconds))),
        NOTHING);
  }

  /** The header that tells caches how long to keep a redirect; 0 s for not at all. */
  public static String cacheControl(int maxAgeSeconds) {
    return maxAgeSeconds == 0 ? "no-store" : "public, max-age=" + maxAgeSeconds;
  }

  /** A problem, with headers that forbid caching: caches store some statuses by default. */
  public static Answer of(Problem problem) {
    List<HttpField> headers = new ArrayList<>(List.of(NO_STORE));
    if (problem.code() == ProblemCode.UNAUTHENTICATED) {
      headers.add(new HttpField(HttpHeader.WWW_AUTHENTICATE, "Bearer realm=\"coatcheck\""));
    }
    return new Answer(problem.code().status(), PROBLEM, headers, problem::json)
        .withRetryAfterOf(problem);
  }

  /** With the header that says when to repeat the request, if the problem asks for that. */
  public Answer withRetryAfterOf(Problem problem) {
    OptionalInt seconds = problem.retryAfterSeconds();
    return seconds.isPresent()
        ? with(new HttpField(HttpHeader.RETRY_AFTER, Integer.toString(seconds.getAsInt())))
        : this;
  }

  public static Answer stored(int status, String body) {
    return new Answer(
        status,
        status < 400 ? JSON : PROBLEM,
        List.of(NO_STORE),
        body.getBytes(StandardCharsets.UTF_8));
  }

  public Answer with(String name, String value) {
    return with(new HttpField(name, value));
  }

  public Answer with(HttpField header) {
    return with(List.of(header));
  }

  public Answer with(List<HttpField> more) {
    return new Answer(
        status, contentType, Stream.concat(headers.stream(), more.stream()).toList(), body);
  }

  /** A page with the status and the headers of this answer. */
  public Answer as(byte[] page) {
    return new Answer(status, Page.CONTENT_TYPE, headers, page).with(Page.HEADERS);
  }

  public int status() {
    return status;
  }

  /** The headers that belong to the answer itself, without the type and the length of its body. */
  public List<HttpField> headers() {
    return List.copyOf(headers);
  }

  /** The body as text, to be stored. All our JSON is UTF-8. */
  public String body(String requestId) {
    return new String(body.apply(requestId), StandardCharsets.UTF_8);
  }

  public void send(Context ctx) {
    if (this == STREAMED) {
      return;
    }
    ctx.status(status).contentType(contentType);
    headers.forEach(header -> ctx.header(header.getName(), header.getValue()));
    ctx.result(body.apply(RequestId.of(ctx)));
  }

  /** Sends without a servlet and without waiting: Jetty buffers what the client doesn't read. */
  public void send(Request request, Response response, Callback callback) {
    byte[] bytes = body.apply(RequestId.of(request));
    response.setStatus(status);
    HttpFields.Mutable fields = response.getHeaders();
    fields.put(HttpHeader.CONTENT_TYPE, contentType);
    headers.forEach(fields::put);
    fields.put(HttpHeader.CONTENT_LENGTH, bytes.length);
    boolean isBodyless = request.getMethod().equals("HEAD");
    response.write(true, isBodyless ? null : ByteBuffer.wrap(bytes), callback);
  }
}
