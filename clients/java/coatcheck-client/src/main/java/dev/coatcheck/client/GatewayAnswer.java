package dev.coatcheck.client;

import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/** An answer of the gateway, of any status. */
public final class GatewayAnswer {
  private static final int RETRY_AFTER_SECONDS_MAX = 86_400;

  private final int status;
  private final HttpHeaders headers;
  private final byte[] body;

  GatewayAnswer(int status, HttpHeaders headers, byte[] body) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  /**
   * The HTTP status.
   *
   * @return 200 to 599
   */
  public int status() {
    return status;
  }

  /**
   * All of the body.
   *
   * @return not copied, so not to be changed
   */
  public byte[] body() {
    return body;
  }

  /**
   * Whether the call was carried out.
   *
   * @return true for a status below 300
   */
  public boolean isSuccess() {
    return status < 300;
  }

  /**
   * The first value of a header.
   *
   * @param name in any case
   * @return empty without such a header
   */
  public Optional<String> header(String name) {
    return headers.firstValue(name);
  }

  /** Empty too if it is a date, which a gateway never sends. */
  Optional<Duration> retryAfter() {
    return header("Retry-After")
        .filter(text -> text.matches("[0-9]{1,5}"))
        .map(Integer::parseInt)
        .map(seconds -> Duration.ofSeconds(Math.min(seconds, RETRY_AFTER_SECONDS_MAX)));
  }

  /** The body, or no fields if it is no object. */
  Fields fields() {
    try {
      Map<String, @Nullable Object> object = Json.read(body);
      return new Fields(object);
    } catch (JacksonException | ClassCastException other) {
      return new Fields(Map.of());
    }
  }
}
