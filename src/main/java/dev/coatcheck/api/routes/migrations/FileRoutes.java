package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.routes.IdempotencyHeader;
import dev.coatcheck.api.server.Admission;
import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.ImportView;
import dev.coatcheck.api.server.PacedBody;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.RowsBody;
import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.idempotency.IdempotentFile;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.idempotency.StoredResponse;
import dev.coatcheck.migrate.file.FileImports;
import dev.coatcheck.migrate.file.FileOutcome;
import dev.coatcheck.migrate.run.RunState;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/** Legacy IDs from a file, for a table on which nothing may be installed. */
final class FileRoutes {
  private static final int FILES_MAX = 2;

  private final FileImports files;
  private final Problems problems;
  private final Admission permits = new Admission(FILES_MAX);

  FileRoutes(FileImports files, Problems problems) {
    this.files = files;
    this.problems = problems;
  }

  void register(Endpoints endpoints) {
    endpoints.lasting(
        HandlerType.POST,
        TableMigrationRoutes.ONE + "/import",
        Scope.TABLE_MIGRATIONS_WRITE,
        this::admit);
  }

  private void admit(Context ctx) throws IOException {
    if (!permits.enter()) {
      problems.write(
          ctx,
          Problem.retryAfter(
              ProblemCode.OVERLOADED,
              "An instance takes two files at a time. Send the request again.",
              Problems.jitteredSeconds()));
      return;
    }
    try {
      take(ctx);
    } finally {
      permits.leave();
    }
  }

  private void take(Context ctx) throws IOException {
    Query.allow(ctx, RowsBody.ERRORS_MAX);
    int errorsMax = RowsBody.errorsMax(ctx);
    long id = RunAnswers.id(ctx);
    RowFormat format = RowsBody.format(ctx);
    String actor = Endpoints.caller(ctx).principal();
    Optional<IdempotentFile.Keyed<FileOutcome>> keyed =
        IdempotencyHeader.onceFile(
            ctx,
            format,
            errorsMax,
            outcome ->
                outcome instanceof FileOutcome.Done done
                    ? Optional.of(Answer.json(200, view(done)))
                    : Optional.empty());
    InputStream sent = ctx.req().getInputStream();
    IdempotentResult<FileOutcome> result;
    boolean tooSlow;
    try (PacedBody body = new PacedBody(sent)) {
      result = files.run(id, format, body, errorsMax, actor, keyed);
      tooSlow = body.isTooSlow();
    }
    switch (result) {
      case IdempotentResult.Unkeyed<FileOutcome>(FileOutcome outcome) ->
          send(ctx, outcome, sent, tooSlow);
      case IdempotentResult.Answered<FileOutcome>(StoredResponse answer, boolean replayed) ->
          IdempotencyHeader.send(ctx, answer, replayed);
      case IdempotentResult.KeyReused<FileOutcome> _ ->
          problems.write(ctx, IdempotencyHeader.reusedForFile());
      case IdempotentResult.Busy<FileOutcome> _ ->
          problems.write(ctx, IdempotencyHeader.fileIsBusy());
    }
  }

  private void send(Context ctx, FileOutcome outcome, InputStream sent, boolean tooSlow)
      throws IOException {
    switch (outcome) {
      case FileOutcome.Done done -> Answer.json(ctx, 200, view(done));
      case FileOutcome.HeaderRefused(String detail) ->
          refuse(ctx, sent, Problem.of(ProblemCode.REQUEST_INVALID, detail));
      case FileOutcome.NotFound _ -> refuse(ctx, sent, RunAnswers.unknown());
      case FileOutcome.NotNow(RunState state) ->
          refuse(
              ctx,
              sent,
              Problem.of(
                  ProblemCode.TABLE_MIGRATION_STATE,
                  "The run is "
                      + state.wireName()
                      + ". A file is for a run that was only planned."));
      case FileOutcome.Stopped(boolean databaseGone, long linesSettled) -> {
        if (tooSlow) {
          // Jetty would wait for the rest of the body.
          ctx.header("Connection", "close");
        }
        problems.write(ctx, stopped(databaseGone, linesSettled, tooSlow));
      }
    }
  }

  private void refuse(Context ctx, InputStream body, Problem problem) throws IOException {
    RowsBody.drain(body);
    problems.write(ctx, problem);
  }

  private static Problem stopped(boolean databaseGone, long linesSettled, boolean tooSlow) {
    String what =
        "Up to line %d all is done, nothing after it. Send the whole body again: what has a key keeps it."
            .formatted(linesSettled);
    if (tooSlow) {
      return Problem.of(ProblemCode.REQUEST_TIMEOUT, "The body came too slowly. " + what);
    }
    return databaseGone
        ? Problem.retryAfter(ProblemCode.DATABASE_UNAVAILABLE, what, Problems.jitteredSeconds())
        : Problem.of(ProblemCode.REQUEST_INVALID, "The body could not be read to its end. " + what);
  }

  private static ImportView view(FileOutcome.Done done) {
    return ImportView.of(
        done.created(),
        done.existing(),
        done.refused(),
        done.errors().stream()
            .map(bad -> ImportView.RowErrorView.of(bad.line(), bad.fault()))
            .toList());
  }
}
