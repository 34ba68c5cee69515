package dev.coatcheck.api.exchange;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.migrate.source.Diagnostic;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An error as in RFC 9457, without the ID of its request. Details are fixed sentences: a problem
 * never repeats input.
 */
public record Problem(ProblemCode code, String detail, Members members) {

  /** Members of a problem besides its code and its detail. */
  public sealed interface Members {}

  public record None() implements Members {}

  /** The wrong field, parameter or header. */
  public record Param(String param) implements Members {}

  /** The seconds after which the request may be repeated, sent as a header. */
  public record RetryAfter(@JsonIgnore int seconds) implements Members {}

  /**
   * The quotas that a request would have exceeded, spelt as draft-ietf-httpapi-ratelimit-headers
   * does.
   *
   * @param seconds after which the request may be repeated, sent as a header
   */
  public record ExceededQuotas(
      @JsonProperty("violated-policies") List<String> violatedPolicies, @JsonIgnore int seconds)
      implements Members {}

  /**
   * When a brownout and the legacy IDs of its type end.
   *
   * @param retryAfterSeconds sent as a header; empty if the caller is not asked to repeat
   * @param sunsetAt null if the type has no sunset
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Brownout(
      @JsonIgnore OptionalInt retryAfterSeconds, Instant brownoutEndsAt, @Nullable Instant sunsetAt)
      implements Members {}

  /**
   * Why a public ID is malformed.
   *
   * @param position index of the wrong character
   */
  public record MalformedId(String param, String reason, int position) implements Members {}

  /** When a public ID was revoked, and the reason, if one was given. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record RevokedId(String param, Instant endedAt, @Nullable String endedReason)
      implements Members {}

  /** The refused items of an atomic batch. */
  public record RefusedItems(List<ItemError> errors) implements Members {}

  /** The links that a change of a type would end, and how many there are. */
  public record DyingLinks(
      List<DyingLink> dyingLinks,
      @JsonProperty("legacy_hits_30_days") long legacyHits,
      int liveIds,
      boolean liveIdsExact)
      implements Members {}

  /** The links that the change of a field would end. */
  public record DyingLink(String param, String detail) {}

  /** Why a table can't be migrated. */
  public record RefusedTable(List<Diagnostic> refusals) implements Members {}

  /** The preconditions to accept before a table migration starts. */
  public record NotAccepted(List<Diagnostic> preconditions) implements Members {}

  /** One refused item of a batch. */
  public record ItemError(int index, int status, Brief error) {
    public ItemError(int index, Problem problem) {
      this(index, problem.code().status(), problem.brief());
    }
  }

  /** A problem inside a list. */
  public record Brief(String code, String detail, @JsonUnwrapped Members members) {}

  private record Body(
      String type,
      String title,
      int status,
      String detail,
      String code,
      @JsonUnwrapped Members members,
      String requestId) {}

  public static Problem of(ProblemCode code, String detail) {
    return new Problem(code, detail, new None());
  }

  public static Problem of(JsonFault fault) {
    return named(fault.code(), fault.field(), fault.detail());
  }

  /** No route has the path of the request. */
  public static Problem noSuchPath() {
    return of(ProblemCode.NOT_FOUND, "Nothing is at this path. /docs lists all paths.");
  }

  /** The path of the request has no route with its method. */
  public static Problem wrongMethod() {
    return of(
        ProblemCode.METHOD_NOT_ALLOWED,
        "This path does not support this method. /docs lists all paths.");
  }

  /**
   * The answer to a key for some types that names anything but those types and their IDs. It is the
   * same whether that exists or not.
   */
  public static Problem typeNotAllowed() {
    return of(
        ProblemCode.TYPE_NOT_ALLOWED,
        "The API key is for some types only. The request names another type, the ID of another"
            + " type, or nothing that exists.");
  }

  /** A problem whose code comes by its name. */
  public static Problem named(String code, String param, String detail) {
    return at(ProblemCode.valueOf(code.toUpperCase(Locale.ROOT)), param, detail);
  }

  public static Problem at(ProblemCode code, String param, String detail) {
    return new Problem(code, detail, new Param(param));
  }

  public static Problem retryAfter(ProblemCode code, String detail, int seconds) {
    return new Problem(code, detail, new RetryAfter(seconds));
  }

  /**
   * A request beyond a quota, of which nothing was done.
   *
   * @param policy the name of the quota
   */
  public static Problem overQuota(String policy, String detail, int waitSeconds) {
    return new Problem(
        ProblemCode.QUOTA_EXCEEDED, detail, new ExceededQuotas(List.of(policy), waitSeconds));
  }

  /** A short outage: retry after 1 to 3 s, at random, so that clients don't retry all at once. */
  public static Problem unavailable(ProblemCode code, String detail) {
    return retryAfter(code, detail, ThreadLocalRandom.current().nextInt(1, 4));
  }

  /** Another request holds a resource of this one, and will soon end. */
  public static Problem busy(String detail) {
    return retryAfter(ProblemCode.BUSY, detail, 1);
  }

  /** For callers with an API key. */
  public static Problem erased(String param) {
    return at(
        ProblemCode.PUBLIC_ID_ERASED,
        param,
        "The public ID was erased for good: its key and aliases are no longer known, and it is"
            + " never issued again.");
  }

  public static Problem batchRefused(List<ItemError> errors) {
    return new Problem(
        ProblemCode.BATCH_REFUSED,
        "Correct the items listed under errors and send the batch again, with another"
            + " Idempotency-Key if it had one.",
        new RefusedItems(errors));
  }

  /** After how many seconds the request may be repeated; empty if the answer doesn't say so. */
  public OptionalInt retryAfterSeconds() {
    return switch (members) {
      case RetryAfter(int seconds) -> OptionalInt.of(seconds);
      case ExceededQuotas(_, int seconds) -> OptionalInt.of(seconds);
      case Brownout brownout -> brownout.retryAfterSeconds();
      default -> OptionalInt.empty();
    };
  }

  /** With the label of its field before the detail, if the field has one. */
  public Problem labelled(Function<String, @Nullable String> label) {
    if (!(members instanceof Param(String param))) {
      return this;
    }
    String text = label.apply(param);
    return text == null ? this : at(code, param, text + ": " + detail);
  }

  public Brief brief() {
    return new Brief(code.wireName(), detail, members);
  }

  byte[] json(String requestId) {
    return Json.write(
        new Body(
            code.typeUri(),
            code.title(),
            code.status(),
            detail,
            code.wireName(),
            members,
            requestId));
  }

  /** The body in one line, for a header. All its texts are ASCII. */
  public String line(String requestId) {
    return new String(json(requestId), StandardCharsets.US_ASCII);
  }
}
