package dev.coatcheck.client;

import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Any call of the API, for what {@link CoatcheckClient} has no method for. Immutable. */
public final class GatewayRequest {
  private static final byte[] NOTHING = new byte[0];

  private final String method;
  private final String path;
  private final @Nullable String contentType;
  private final byte[] body;
  private final @Nullable String idempotencyKey;
  private final boolean isRepeatable;
  private final @Nullable Duration deadline;
  private final @Nullable String accepted;

  private GatewayRequest(
      String method,
      String path,
      @Nullable String contentType,
      byte[] body,
      @Nullable String idempotencyKey,
      boolean isRepeatable,
      @Nullable Duration deadline,
      @Nullable String accepted) {
    this.method = method;
    this.path = path;
    this.contentType = contentType;
    this.body = body;
    this.idempotencyKey = idempotencyKey;
    this.isRepeatable = isRepeatable;
    this.deadline = deadline;
    this.accepted = accepted;
  }

  /**
   * A call without a body. It is repeatable unless its method is POST or PATCH.
   *
   * @param method such as {@code GET}
   * @param path path and query, percent-encoded
   * @return the call
   */
  public static GatewayRequest of(String method, String path) {
    return new GatewayRequest(
        method,
        path,
        null,
        NOTHING,
        null,
        !method.equals("POST") && !method.equals("PATCH"),
        null,
        null);
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
        method, path, type, bytes, idempotencyKey, isRepeatable, deadline, accepted);
  }

  /**
   * The same with an Idempotency-Key, which makes it repeatable.
   *
   * @param key 1 to 255 visible ASCII characters
   * @return another call
   */
  public GatewayRequest withIdempotencyKey(String key) {
    return new GatewayRequest(method, path, contentType, body, key, true, deadline, accepted);
  }

  /**
   * The same, which may be sent again after its answer was lost.
   *
   * @return another call
   */
  public GatewayRequest repeatable() {
    return new GatewayRequest(
        method, path, contentType, body, idempotencyKey, true, deadline, accepted);
  }

  /**
   * The same with a deadline of its own.
   *
   * @param duration for all tries together, more than zero
   * @return another call
   */
  public GatewayRequest within(Duration duration) {
    return new GatewayRequest(
        method, path, contentType, body, idempotencyKey, isRepeatable, duration, accepted);
  }

  /** The same, for an answer of a media type. */
  GatewayRequest accepting(String type) {
    return new GatewayRequest(
        method, path, contentType, body, idempotencyKey, isRepeatable, deadline, type);
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
    if (contentType != null) {
      http.header("Content-Type", contentType);
    }
    if (accepted != null) {
      http.header("Accept", accepted);
    }
    if (idempotencyKey != null) {
      http.header("Idempotency-Key", idempotencyKey);
    }
    http.method(
        method,
        contentType == null
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
