package dev.coatcheck.client;

import java.time.Duration;
import java.util.Optional;

/**
 * What went wrong with a call, or with one item of a batch.
 *
 * @param status the HTTP status, 400 to 599; 0 if nothing answered; with {@link #NOT_A_GATEWAY}
 *     that of the other server
 * @param code what to branch on: a code of the gateway's {@code /docs/errors}, or if {@code status}
 *     is 0 one of {@link #UNREACHABLE}, {@link #TIMED_OUT}, {@link #BROKEN_OFF}, {@link
 *     #TLS_REFUSED}, {@link #INTERRUPTED}, {@link #FAILED}
 * @param detail a sentence for people, without secrets
 * @param param the field of the request that is wrong
 * @param requestId the ID of the request in the gateway's log; an item of a batch has that of its
 *     request
 * @param retryAfter how long to wait before the same call may succeed, in whole seconds
 */
public record Problem(
    int status,
    String code,
    String detail,
    Optional<String> param,
    Optional<String> requestId,
    Optional<Duration> retryAfter) {
  /**
   * No server took the connection, or it ended before there was TLS. The call was not carried out.
   */
  public static final String UNREACHABLE = "unreachable";

  /** The deadline passed. The call may have been carried out. */
  public static final String TIMED_OUT = "timed_out";

  /** The connection broke off. The call may have been carried out. */
  public static final String BROKEN_OFF = "broken_off";

  /** The server's certificate is not trusted, or there is no TLS. The call was not carried out. */
  public static final String TLS_REFUSED = "tls_refused";

  /**
   * The server that answered is not a gateway: its answer has no {@code Request-Id}, or no JSON.
   */
  public static final String NOT_A_GATEWAY = "not_a_gateway";

  /** The thread was interrupted. The call may have been carried out. */
  public static final String INTERRUPTED = "interrupted";

  /**
   * Something in this process threw, such as the supplier of the API key. The call may have been
   * carried out.
   */
  public static final String FAILED = "failed";

  private static final String DATABASE_UNAVAILABLE = "database_unavailable";

  static Problem ofClient(String code, String detail) {
    return ofClient(0, code, detail);
  }

  static Problem ofClient(int status, String code, String detail) {
    return new Problem(status, code, detail, Optional.empty(), Optional.empty(), Optional.empty());
  }

  /** Of what ended a call. Only our own words are known to have no secrets. */
  static Problem of(RuntimeException failed) {
    return failed instanceof CoatcheckException ours
        ? ours.problem()
        : ofClient(FAILED, "The call ended with " + failed.getClass().getName() + ".");
  }

  static Problem of(GatewayAnswer answer) {
    Fields body = answer.fields();
    return new Problem(
        answer.status(),
        body.text("code").orElse(NOT_A_GATEWAY),
        body.text("detail").orElse("The answer has the status " + answer.status() + "."),
        body.text("param"),
        body.text("request_id").or(() -> answer.header("Request-Id")),
        answer.retryAfter());
  }

  /** Of an entry in the answer to a batch. */
  static Problem ofItem(Fields entry, GatewayAnswer answer) {
    int status = entry.number("status").orElse(500);
    Fields error = entry.fields("error").orElse(entry);
    return new Problem(
        status,
        error.text("code").orElse("internal"),
        error.text("detail").orElse("The item has the status " + status + "."),
        error.text("param"),
        answer.header("Request-Id"),
        Optional.empty());
  }

  /**
   * Whether the same call may succeed later without a change.
   *
   * @return true for 409 {@code busy}, 429, 502, 503, 504 and if no gateway answered, unless the
   *     certificate was refused
   */
  public boolean isTemporary() {
    return switch (status) {
      case 0 -> !code.equals(TLS_REFUSED);
      case 409 -> code.equals("busy");
      case 429 -> !code.equals(NOT_A_GATEWAY);
      case 502, 503, 504 -> true;
      default -> false;
    };
  }

  /**
   * Whether the call may have been carried out all the same. A repetition does no harm if the call
   * changes nothing, or has names or an Idempotency-Key.
   *
   * @return true for a lost answer, for 500, 502 and 504, for 503 {@code database_unavailable}, and
   *     for a 503 of another server, such as a proxy
   */
  public boolean mayBeDone() {
    return switch (status) {
      case 0 -> !code.equals(UNREACHABLE) && !code.equals(TLS_REFUSED);
      case 500, 502, 504 -> true;
      case 503 -> code.equals(DATABASE_UNAVAILABLE) || code.equals(NOT_A_GATEWAY);
      default -> false;
    };
  }
}
