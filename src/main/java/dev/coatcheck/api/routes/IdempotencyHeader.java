package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.api.server.RequestBody;
import dev.coatcheck.api.server.RowsBody;
import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.ids.idempotency.IdempotentCall;
import dev.coatcheck.ids.idempotency.IdempotentFile;
import dev.coatcheck.ids.idempotency.StoredResponse;
import io.javalin.http.Context;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * The header {@code Idempotency-Key}: a structured field's string in quotes, or the same bare. The
 * edge has seen to it that there is one at most, of 1 to 255 ASCII characters.
 */
public final class IdempotencyHeader {
  static final String NAME = "Idempotency-Key";

  private static final Pattern QUOTED = Pattern.compile("\"((?:[^\"\\\\]|\\\\[\"\\\\])+)\"");
  private static final Pattern BARE = Pattern.compile("[!#-~](?:[ !#-~]*[!#-~])?");

  private static final int KEPT_ERRORS_MAX = 1_000;

  private IdempotencyHeader() {}

  /** The key of a request on a secured route; it belongs to who makes it. */
  static Optional<IdempotencyKey> read(Context ctx) {
    return Optional.ofNullable(ctx.header(NAME))
        .map(text -> new IdempotencyKey(Endpoints.caller(ctx).principal(), parse(text)));
  }

  /**
   * What makes a request one that is done once, if it has a key.
   *
   * @param request what tells it from other requests with the same key
   * @param answer turns the outcome into the answer that is kept
   */
  public static <T> Optional<IdempotentCall<T>> once(
      Context ctx, String request, Function<T, Answer> answer) {
    return read(ctx)
        .map(
            key ->
                new IdempotentCall<>(
                    key,
                    RequestBody.sha256(request),
                    outcome -> {
                      Answer rendered = answer.apply(outcome);
                      return new StoredResponse(rendered.status(), rendered.body());
                    }));
  }

  /**
   * What makes a file one that is worked on once, if it has a key. Its answer lists at most 1,000
   * errors, so that what is kept stays small.
   *
   * @param answer to an outcome; empty if it doesn't settle the request
   */
  public static <T> Optional<IdempotentFile.Keyed<T>> onceFile(
      Context ctx, RowFormat format, int errorsMax, Function<T, Optional<Answer>> answer) {
    Optional<IdempotencyKey> key = read(ctx);
    if (key.isPresent() && errorsMax > KEPT_ERRORS_MAX) {
      throw Refusal.ofParameter(
          RowsBody.ERRORS_MAX,
          "With an Idempotency-Key this must be an integer from 0 to " + KEPT_ERRORS_MAX + ".");
    }
    return key.map(
        named ->
            new IdempotentFile.Keyed<>(
                named,
                "%s %s %s %d".formatted(ctx.method(), ctx.path(), format.wireName(), errorsMax),
                outcome ->
                    answer
                        .apply(outcome)
                        .map(rendered -> new StoredResponse(rendered.status(), rendered.body()))));
  }

  /** The key of a file belongs to another request. */
  public static Problem reusedForFile() {
    return Problem.at(
        ProblemCode.IDEMPOTENCY_KEY_REUSED,
        NAME,
        "Another request came with this key. Send a key of its own with this file.");
  }

  /** The work on a file is done, and its answer is being kept by another request. */
  public static Problem fileIsBusy() {
    return Problem.retryAfter(
        ProblemCode.BUSY,
        "Another request works on this Idempotency-Key. The rows of the file are in; send it again"
            + " for the answer that is kept.",
        1);
  }

  public static void send(Context ctx, StoredResponse answer, boolean replayed) {
    if (replayed) {
      ctx.header("Idempotent-Replayed", "true");
    }
    Answer.recorded(answer.status(), answer.body()).send(ctx);
  }

  public static Problem reused() {
    return Problem.at(
        ProblemCode.IDEMPOTENCY_KEY_REUSED,
        NAME,
        "Another request came with this key. Nothing was done; send a key of its own.");
  }

  /** For an operation that keeps no answers: a client that sends a key relies on them. */
  static void refuse(Context ctx, String why) {
    if (ctx.header(NAME) != null) {
      throw new Refusal(Problem.at(ProblemCode.HEADER_INVALID, NAME, why));
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
        Problem.at(
            ProblemCode.HEADER_INVALID,
            NAME,
            "Send 1 to 255 visible ASCII characters without quotes, or all of it in quotes."));
  }
}
