package dev.coatcheck.api.exchange;

import dev.coatcheck.core.id.Sha256;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.idempotency.StoredResponse;
import io.javalin.http.Context;
import java.util.HexFormat;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * The header {@code Idempotency-Key}: the string of a structured field in quotes, or the same text
 * without quotes. The edge has checked that there is at most one, of ASCII characters, and has
 * bounded its length.
 */
public final class IdempotencyHeader {
  public static final String NAME = "Idempotency-Key";

  private static final int TEXT_LENGTH_MAX = 255;
  private static final Pattern QUOTED =
      Pattern.compile("\"((?:[^\"\\\\]|\\\\[\"\\\\]){1," + TEXT_LENGTH_MAX + "})\"");
  private static final Pattern BARE = Pattern.compile("[!#-~](?:[ !#-~]*[!#-~])?");

  private IdempotencyHeader() {}

  /** The Idempotency-Key of a request on a secured route, owned by the caller. */
  public static Optional<IdempotencyKey> read(Context ctx) {
    return Optional.ofNullable(ctx.header(NAME))
        .map(text -> new IdempotencyKey(RequestCaller.principal(ctx), parse(text)));
  }

  /**
   * Makes a request with an Idempotency-Key a call that is done once; empty without a key.
   *
   * @param request distinguishes it from other requests with the same key
   * @param answer turns the outcome into the stored response; called inside the transaction
   */
  public static <T> Optional<IdempotentCall<T>> once(
      Context ctx, String request, Function<T, Answer> answer) {
    return read(ctx)
        .map(
            key ->
                new IdempotentCall<>(
                    key,
                    HexFormat.of().formatHex(Sha256.of(request)) + types(ctx),
                    outcome -> toStore(ctx, answer.apply(outcome))));
  }

  /**
   * What stands for the types of the caller behind the hash of a request: the answer to a key for
   * all types is not for a key for some, even if both keys have one principal.
   */
  public static String types(Context ctx) {
    return RequestCaller.types(ctx)
        .names()
        .map(names -> Sha256.of(new TreeSet<>(names).toString()))
        .map(hash -> HexFormat.of().formatHex(hash, 0, 8))
        .orElse("");
  }

  public static StoredResponse toStore(Context ctx, Answer answer) {
    return new StoredResponse(answer.status(), answer.body(RequestId.of(ctx)));
  }

  /** The answer to a call that may have an Idempotency-Key. */
  public static <T> Answer answer(IdempotentResult<T> result, Function<T, Answer> answer) {
    return switch (result) {
      case IdempotentResult.Unkeyed<T>(T outcome) -> answer.apply(outcome);
      case IdempotentResult.Answered<T>(StoredResponse stored, boolean replayed) ->
          stored(stored, replayed);
      case IdempotentResult.KeyReused<T>(boolean forOtherTypes) -> reused(forOtherTypes);
      case IdempotentResult.Busy<T> _ ->
          Answer.of(
              Problem.busy(
                  "Another request uses this Idempotency-Key. Nothing was done; send the same"
                      + " request again."));
    };
  }

  public static Answer stored(StoredResponse stored, boolean replayed) {
    Answer answer = ErasedAnswer.of(stored);
    return replayed ? answer.with("Idempotent-Replayed", "true") : answer;
  }

  /**
   * The answer if the key was used for another request.
   *
   * @param forOtherTypes whether only the types of the callers differ
   */
  public static Answer reused(boolean forOtherTypes) {
    return Answer.of(
        Problem.at(
            ProblemCode.IDEMPOTENCY_KEY_REUSED,
            NAME,
            forOtherTypes
                ? "This request was answered before, to an API key for other types. Nothing was"
                    + " done now. A key for those types gets the answer; another Idempotency-Key"
                    + " could do the work twice."
                : "Another request used this Idempotency-Key. Nothing was done; send another"
                    + " key."));
  }

  /** For an operation that stores no responses: a client that sends a key relies on them. */
  public static void refuse(Context ctx, String why) {
    if (ctx.header(NAME) != null) {
      throw new Refusal(ProblemCode.HEADER_INVALID, NAME, why);
    }
  }

  static String parse(String text) {
    var quoted = QUOTED.matcher(text);
    if (quoted.matches()) {
      return quoted.group(1).replaceAll("\\\\(.)", "$1");
    }
    if (BARE.matcher(text).matches()) {
      return text;
    }
    throw new Refusal(
        ProblemCode.HEADER_INVALID,
        NAME,
        "Send 1 to 255 visible ASCII characters, without quotes or with quotes around the whole"
            + " value.");
  }
}
