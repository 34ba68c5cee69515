package dev.coatcheck.api.server;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.migrate.inspect.Diagnostic;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An error, as RFC 9457 has it, before it is bound to a request. Texts are fixed sentences: what
 * the caller sent is never echoed.
 *
 * @param param the field, parameter or header at fault
 * @param reason why a public ID is malformed
 * @param position index of the character at fault in a public ID
 * @param ended how a public ID ended, for authenticated callers
 * @param errors the refused items of an atomic batch
 * @param findings what stands in the way of a table migration
 * @param retryAfterSeconds for 503
 */
public record Problem(
    ProblemCode code,
    String detail,
    @Nullable String param,
    @Nullable String reason,
    @Nullable Integer position,
    @Nullable Ended ended,
    @Nullable List<ItemError> errors,
    @Nullable Findings findings,
    int retryAfterSeconds) {

  /** When a public ID ended, and why if somebody said so. */
  public record Ended(Instant at, @Nullable String reason) {}

  /** One refused item of an atomic batch. */
  public record ItemError(int index, int status, Brief error) {
    public ItemError(int index, Problem problem) {
      this(index, problem.code().status(), problem.brief());
    }
  }

  /** What stands in the way of a table migration: one of the two. */
  public record Findings(
      @Nullable List<Diagnostic> refusals, @Nullable List<Diagnostic> preconditions) {}

  /** A problem inside a list. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Brief(
      String code,
      String detail,
      @Nullable String param,
      @Nullable String reason,
      @Nullable Integer position,
      @Nullable Instant endedAt,
      @Nullable String endedReason) {}

  public static Problem of(ProblemCode code, String detail) {
    return new Problem(code, detail, null, null, null, null, null, null, 0);
  }

  public static Problem at(ProblemCode code, String param, String detail) {
    return new Problem(code, detail, param, null, null, null, null, null, 0);
  }

  public static Problem retryAfter(ProblemCode code, String detail, int seconds) {
    return new Problem(code, detail, null, null, null, null, null, null, seconds);
  }

  public static Problem batchRefused(List<ItemError> errors) {
    return new Problem(
        ProblemCode.BATCH_REFUSED,
        "Correct the items listed under errors and send the batch again.",
        null,
        null,
        null,
        null,
        errors,
        null,
        0);
  }

  /** A table that can't be migrated, and all that is against it. */
  public static Problem tableRefused(List<Diagnostic> refusals) {
    return withFindings(
        ProblemCode.TABLE_MIGRATION_REFUSED,
        "Nothing was changed. Each entry under refusals says what to do about it.",
        new Findings(refusals, null));
  }

  /** A start that leaves out what has to be accepted. */
  public static Problem notAccepted(List<Diagnostic> preconditions) {
    return withFindings(
        ProblemCode.PRECONDITIONS_NOT_ACCEPTED,
        "See to each entry under preconditions, then send its code in accept.",
        new Findings(null, preconditions));
  }

  private static Problem withFindings(ProblemCode code, String detail, Findings findings) {
    return new Problem(code, detail, null, null, null, null, null, findings, 0);
  }

  public static Problem malformed(String param, ParsedId.Reason reason, int position) {
    return new Problem(
        ProblemCode.PUBLIC_ID_MALFORMED,
        sentence(reason),
        param,
        reason.wireName(),
        position,
        null,
        null,
        null,
        0);
  }

  /** A public ID that was revoked, for a caller who may know when and why. */
  public static Problem revoked(String param, Ended ended) {
    return new Problem(
        ProblemCode.PUBLIC_ID_REVOKED,
        "It was ended for good and is never issued again.",
        param,
        null,
        null,
        ended,
        null,
        null,
        0);
  }

  public Brief brief() {
    return new Brief(code.wireName(), detail, param, reason, position, endedAt(), endedReason());
  }

  @Nullable List<Diagnostic> refusals() {
    return findings == null ? null : findings.refusals();
  }

  @Nullable List<Diagnostic> preconditions() {
    return findings == null ? null : findings.preconditions();
  }

  @Nullable Instant endedAt() {
    return ended == null ? null : ended.at();
  }

  @Nullable String endedReason() {
    return ended == null ? null : ended.reason();
  }

  private static String sentence(ParsedId.Reason reason) {
    return switch (reason) {
      case LENGTH -> "A public ID is a prefix, an underscore and 24 characters.";
      case ALPHABET -> "After its prefix a public ID holds only 0-9, A-Z and a-z.";
      case OVERFLOW -> "The 22 characters after the prefix stand for more than 128 bits.";
      case CHECK -> "The last two characters do not fit the rest: there is a typo somewhere.";
      case PREFIX -> "No type has this prefix.";
    };
  }
}
