package dev.coatcheck.api.routes.transfers;

import dev.coatcheck.api.body.PacedBody;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.ids.idempotency.IdempotencyKey;
import dev.coatcheck.ids.idempotency.IdempotentFile;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.idempotency.StoredResponse;
import io.javalin.http.Context;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import java.util.function.Function;

/**
 * A request with a file of rows, which is imported while it arrives. With an Idempotency-Key its
 * answer is stored; such an answer lists at most 1,000 errors, so that it stays small.
 */
public final class RowsUpload {
  private static final String ERRORS_MAX = "errors_max";
  private static final int ERRORS_LISTED_MAX = 50_000;
  private static final int ERRORS_STORED_MAX = 1_000;
  private static final int ERRORS_DEFAULT = 100;

  private final Context ctx;
  private final RowFormat format;
  private final int errorsMax;
  private final Optional<IdempotencyKey> key;

  /** Reads the headers and the query; the file itself is not read yet. */
  public RowsUpload(Context ctx) {
    this.ctx = ctx;
    this.errorsMax =
        Query.of(ctx, ERRORS_MAX).integer(ERRORS_MAX, 0, ERRORS_LISTED_MAX, ERRORS_DEFAULT);
    this.format =
        RequestBody.mediaType(ctx.header("Content-Type"), ctx.header("Content-Encoding"))
            .flatMap(RowFormat::ofMediaType)
            .orElseThrow(
                () ->
                    new Refusal(
                        ProblemCode.UNSUPPORTED_MEDIA_TYPE,
                        "Send the body as Content-Type: text/csv or application/x-ndjson, in UTF-8,"
                            + " not compressed."));
    this.key = IdempotencyHeader.read(ctx);
    if (key.isPresent() && errorsMax > ERRORS_STORED_MAX) {
      throw Refusal.ofParameter(
          ERRORS_MAX,
          "With an Idempotency-Key this must be an integer from 0 to " + ERRORS_STORED_MAX + ".");
    }
  }

  /** Works on the rows while they come. */
  public interface Work<T> {
    IdempotentResult<T> run(InputStream rows, Optional<IdempotentFile.Keyed<T>> keyed);
  }

  /** Answers an outcome. */
  public interface Answers<T> {
    /** {@code tooSlow}: the sender was cut off because it was too slow. */
    Answer answer(T outcome, boolean tooSlow);
  }

  public RowFormat format() {
    return format;
  }

  /** How many refused rows the answer lists. */
  public int errorsMax() {
    return errorsMax;
  }

  /**
   * Works on the file, and answers.
   *
   * @param done what is answered once all rows were read; empty for another outcome, which may be
   *     tried again and is not stored
   * @param answers to all outcomes
   */
  public <T> Answer answer(Work<T> work, Function<T, Optional<ImportView>> done, Answers<T> answers)
      throws IOException {
    Optional<IdempotentFile.Keyed<T>> keyed =
        key.map(
            named ->
                new IdempotentFile.Keyed<>(
                    named, name(), IdempotencyHeader.types(ctx), done.andThen(this::toStore)));
    try (PacedBody body = new PacedBody(ctx.req().getInputStream())) {
      Answer answer =
          switch (work.run(body, keyed)) {
            case IdempotentResult.Unkeyed<T>(T outcome) ->
                answers.answer(outcome, body.isTooSlow());
            case IdempotentResult.Answered<T>(StoredResponse stored, boolean replayed) ->
                IdempotencyHeader.stored(stored, replayed);
            case IdempotentResult.KeyReused<T>(boolean forOtherTypes) when forOtherTypes ->
                IdempotencyHeader.reused(true);
            case IdempotentResult.KeyReused<T> _ ->
                Answer.of(
                    Problem.at(
                        ProblemCode.IDEMPOTENCY_KEY_REUSED,
                        IdempotencyHeader.NAME,
                        "Another request used this Idempotency-Key. Send another key with this"
                            + " file."));
            case IdempotentResult.Busy<T> _ ->
                Answer.of(
                    Problem.busy(
                        "Another request works on this Idempotency-Key. The rows of the file are"
                            + " in; send it again for the answer that is stored."));
          };
      // Without this header Jetty would wait for the rest of a body that is too slow.
      return body.isTooSlow() ? answer.with("Connection", "close") : answer;
    }
  }

  /** For a file whose sender may send no more of it; {@code rest} says what to do. */
  public static Problem accessEnded(String rest) {
    return Problem.of(
        ProblemCode.FORBIDDEN,
        "The API key ended or lost a right while the file was read. " + rest);
  }

  /**
   * Says how much of a file is done that was not read to its end.
   *
   * @param inDoubt whether a commit after these lines has an unknown outcome
   */
  public static String settled(long lines, boolean inDoubt) {
    return "All rows up to line %d are done%s. "
        .formatted(lines, inDoubt ? "; later ones may be" : ", and no later row");
  }

  /** For a file that can't be read to its end; {@code rest} says what to do. */
  public static Problem brokenOff(boolean tooSlow, String rest) {
    return tooSlow
        ? Problem.of(ProblemCode.REQUEST_TIMEOUT, "The body came too slowly. " + rest)
        : Problem.of(ProblemCode.REQUEST_INVALID, "The body could not be read to its end. " + rest);
  }

  /** Tells the file from the other requests with its key. */
  private String name() {
    return "%s %s %s %d".formatted(ctx.method(), ctx.path(), format.wireName(), errorsMax);
  }

  private Optional<StoredResponse> toStore(Optional<ImportView> done) {
    return done.map(view -> IdempotencyHeader.toStore(ctx, Answer.json(200, view)));
  }
}
