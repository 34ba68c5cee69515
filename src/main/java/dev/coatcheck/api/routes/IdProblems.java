package dev.coatcheck.api.routes;

import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.LegacyPaused;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/** The problems of public IDs, and of keys without a public ID. */
public final class IdProblems {
  /** A minute, because an operator has to act. */
  private static final int FENCED_RETRY_SECONDS = 60;

  private IdProblems() {}

  /** For callers with an API key. */
  public static Problem unissued(String param, ResolveOutcome.Unissued outcome) {
    return switch (outcome) {
      case ResolveOutcome.Unknown _ -> unknown(param);
      case ResolveOutcome.NotAllowed _ -> Problem.typeNotAllowed();
      case ResolveOutcome.Malformed(ParsedId.Reason reason, int position) ->
          malformed(param, reason, position);
    };
  }

  public static Problem malformed(String param, ParsedId.Reason reason, int position) {
    return new Problem(
        ProblemCode.PUBLIC_ID_MALFORMED,
        sentence(reason),
        new Problem.MalformedId(param, reason.wireName(), position));
  }

  public static Problem unknown(String param) {
    return Problem.at(
        ProblemCode.PUBLIC_ID_UNKNOWN,
        param,
        "The public ID is well formed, but this gateway never issued it.");
  }

  /** For callers with an API key, who may see the time and the reason. */
  public static Problem revoked(String param, ResolveOutcome.Revoked revoked) {
    return new Problem(
        ProblemCode.PUBLIC_ID_REVOKED,
        "The public ID was ended for good and is never issued again.",
        new Problem.RevokedId(param, revoked.endedAt(), revoked.reason().orElse(null)));
  }

  /** For every caller: a brownout is announced. */
  public static Problem legacyPaused(LegacyPaused paused) {
    boolean isGone = paused.brownout().status() == ProblemCode.LEGACY_BROWNOUT_GONE.status();
    return new Problem(
        isGone ? ProblemCode.LEGACY_BROWNOUT_GONE : ProblemCode.LEGACY_BROWNOUT,
        "Legacy IDs of this type are paused until brownout_ends_at, as a test of their end. Use"
            + " public IDs.",
        new Problem.Brownout(
            isGone ? OptionalInt.empty() : OptionalInt.of(paused.secondsLeft()),
            paused.brownout().to(),
            paused.notice().sunsetAt().orElse(null)));
  }

  public static Problem ended(String param, String detail) {
    return Problem.at(ProblemCode.ID_ENDED, param, detail);
  }

  public static Problem keyUnknown(String param) {
    return Problem.at(
        ProblemCode.KEY_UNKNOWN,
        param,
        "No public ID has this key. POST /v1/ids with this key mints a public ID.");
  }

  /** No key can be generated. */
  public static Problem keysUnavailable(KeyOutcome.NoKeys why) {
    return switch (why) {
      case KeyOutcome.Refused(String _, long retryAfterMillis) ->
          Problem.retryAfter(
              ProblemCode.KEYS_UNAVAILABLE,
              "No keys can be generated now. Send the request again after the time in Retry-After;"
                  + " GET /v1/workers shows the leases.",
              Math.toIntExact(Math.max(1, Math.ceilDiv(retryAfterMillis, 1_000))));
      case KeyOutcome.NoWorkerRange(String layout) ->
          Problem.unavailable(
              ProblemCode.NO_WORKER_RANGE,
              "COATCHECK_WORKERS of this instance has no range for the layout %s. Send the request to another instance, or give this instance a range."
                  .formatted(layout));
      case KeyOutcome.NoDatedWorker(String layout, List<Integer> workers) ->
          Problem.unavailable(
              ProblemCode.NO_WORKER_RANGE,
              "COATCHECK_WORKERS of this instance gives the layout "
                  + layout
                  + " none of the workers that make keys for given times: "
                  + workers.stream().sorted().map(String::valueOf).collect(Collectors.joining(", "))
                  + ". Send the request to an instance whose range has one of them.");
      case KeyOutcome.NoDatedWorkerLeft(String layout) ->
          Problem.unavailable(
              ProblemCode.NO_DATED_WORKER_LEFT,
              "After the last failover of Postgres the layout "
                  + layout
                  + " has no worker left for keys of given times. Send the request without a time,"
                  + " or bring keys of your own.");
      case KeyOutcome.UnknownSegment _ ->
          Problem.at(
              ProblemCode.SEGMENT_UNKNOWN,
              "tag",
              "No segment has this tag. PUT /v1/segments/{tag} creates a segment.");
      case KeyOutcome.SegmentExhausted _ ->
          Problem.at(
              ProblemCode.SEGMENT_EXHAUSTED,
              "tag",
              "The segment has no more numbers. Create another segment, or bring keys of your"
                  + " own.");
      case KeyOutcome.Fenced _ ->
          Problem.retryAfter(
              ProblemCode.KEYS_FENCED,
              "Postgres failed over or was restored, and may have lost the last grants. An operator"
                  + " has to run coatcheck keys fence.",
              FENCED_RETRY_SECONDS);
    };
  }

  private static String sentence(ParsedId.Reason reason) {
    return switch (reason) {
      case LENGTH -> "A public ID is a prefix, an underscore and 24 characters.";
      case ALPHABET -> "After its prefix a public ID holds only 0-9, A-Z and a-z.";
      case OVERFLOW -> "The 22 characters after the prefix stand for more than 128 bits.";
      case CHECK -> "The last two characters do not match the rest: the ID has a typo.";
      case PREFIX -> "No type has this prefix.";
    };
  }
}
