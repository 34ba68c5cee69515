package dev.coatcheck.client;

import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Any call of the API, for what {@link CoatcheckClient} has no method for. Immutable. */
public final class GatewayRequest {
  private final String method;
  private final String path;
  private final byte @Nullable [] body;
  private final Map<String, String> headers;
  private final boolean isRepeatable;
  private final @Nullable Duration deadline;

  private GatewayRequest(
      String method,
      String path,
      byte @Nullable [] body,
      Map<String, String> headers,
      boolean isRepeatable,
      @Nullable Duration deadline) {
    this.method = method;
    this.path = path;
    this.body = body;
    this.headers = headers;
    this.isRepeatable = isRepeatable;
    this.deadline = deadline;
  }

  /**
   * A call without a body. It is repeatable unless its method is POST or PATCH.
   *
   * @param method such as {@code GET}
   * @param path path and query, percent-encoded
   * @return the call
   * @throws IllegalArgumentException if the path doesn't begin with a slash: it would be a part of
   *     the host
   */
  public static GatewayRequest of(String method, String path) {
    if (!path.startsWith("/")) {
      throw new IllegalArgumentException("A path begins with a slash. This one is " + path + ".");
    }
    boolean isRepeatable = !method.equals("POST") && !method.equals("PATCH");
    return new GatewayRequest(method, path, null, Map.of(), isRepeatable, null);
  }

  /**
   * The same with a body.
   *
   * @param type the media type, such as {@code application/json}
   * @param bytes the body, not copied
   * @return another call
   */
  public GatewayRequest withBody(String type, byte[] bytes) {
    return new GatewayRequest(
        method, path, bytes, with("Content-Type", type), isRepeatable, deadline);
  }

  /**
   * The same with an Idempotency-Key, which makes it repeatable.
   *
   * @param key 1 to 255 visible ASCII characters
   * @return another call
   */
  public GatewayRequest withIdempotencyKey(String key) {
    // The gateway reads quotes as those around a text.
    String text =
        key.indexOf('"') < 0 ? key : '"' + key.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    return new GatewayRequest(method, path, body, with("Idempotency-Key", text), true, deadline);
  }

  /**
   * The same, which may be sent again after its answer was lost.
   *
   * @return another call
   */
  public GatewayRequest repeatable() {
    return new GatewayRequest(method, path, body, headers, true, deadline);
  }

  /**
   * The same with a deadline of its own.
   *
   * @param duration for all tries together, more than zero
   * @return another call
   */
  public GatewayRequest within(Duration duration) {
    return new GatewayRequest(method, path, body, headers, isRepeatable, duration);
  }

  /**
   * The same for a thing as it was read: the gateway refuses the call with 412 once it has changed.
   *
   * @param etag the header ETag of its answer; empty for a thing that must not be there yet
   * @return another call
   */
  public GatewayRequest onlyIf(Optional<String> etag) {
    return withHeader(etag.isPresent() ? "If-Match" : "If-None-Match", etag.orElse("*"));
  }

  /** The same, for an answer of a media type. */
  GatewayRequest accepting(String type) {
    return withHeader("Accept", type);
  }

  private GatewayRequest withHeader(String name, String value) {
    return new GatewayRequest(method, path, body, with(name, value), isRepeatable, deadline);
  }

  private Map<String, String> with(String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(name, value);
    return more;
  }

  String path() {
    return path;
  }

  boolean isRepeatable() {
    return isRepeatable;
  }

  /** The time for all tries together: that of the call, or else that of the client. */
  Duration deadlineOr(Duration ofClient) {
    return deadline == null ? ofClient : deadline;
  }

  /** Adds all but the address. */
  void writeTo(HttpRequest.Builder http) {
    headers.forEach(http::header);
    http.method(
        method,
        body == null
            ? HttpRequest.BodyPublishers.noBody()
            : HttpRequest.BodyPublishers.ofByteArray(body));
  }

  /**
   * Percent-encodes a text for a segment of a path or a value of a query.
   *
   * @param text any text
   * @return ASCII without slashes, spaces and {@code +}
   */
  public static String segment(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
