package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.body.SharedPermits;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.transfers.ImportView;
import dev.coatcheck.api.routes.transfers.RowsUpload;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.bulk.rows.RowSummary;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.migrate.run.KeyFileImport;
import dev.coatcheck.migrate.run.KeyFileOutcome;
import dev.coatcheck.migrate.run.RunState;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.io.IOException;
import java.util.Optional;

/** Legacy IDs from a file, for a table on which nothing may be installed. */
final class FileRoutes {
  private static final String PATH = TableMigrationRoutes.ONE + "/import";

  private final KeyFileImport files;
  private final RunAnswers answers;
  private final SharedPermits permits;

  FileRoutes(KeyFileImport files, RunAnswers answers, Observer observer) {
    this.files = files;
    this.answers = answers;
    this.permits =
        new SharedPermits(
            2, 1, "An instance takes two files at a time, and one of one principal.", observer);
  }

  void register(Endpoints endpoints) {
    endpoints.lasting(
        HandlerType.POST, PATH, Scope.TABLE_MIGRATIONS_WRITE, permits.around(this::take));
  }

  private Answer take(Context ctx) throws IOException {
    RowsUpload upload = new RowsUpload(ctx);
    long id = answers.id(ctx);
    RequestCaller request = RequestCaller.of(ctx);
    KeyFileImport.Sender sender =
        new KeyFileImport.Sender(RequestCaller.actor(ctx), request::mayGoOn);
    return upload.answer(
        (rows, keyed) -> files.run(id, upload.format(), rows, upload.errorsMax(), sender, keyed),
        outcome ->
            outcome instanceof KeyFileOutcome.Done(RowSummary summary)
                ? Optional.of(ImportView.of(summary))
                : Optional.empty(),
        FileRoutes::answer);
  }

  private static Answer answer(KeyFileOutcome outcome, boolean tooSlow) {
    return switch (outcome) {
      case KeyFileOutcome.Done(RowSummary summary) -> Answer.json(200, ImportView.of(summary));
      case KeyFileOutcome.HeaderRefused(String detail) ->
          Answer.of(Problem.of(ProblemCode.REQUEST_INVALID, detail));
      case KeyFileOutcome.NotFound _ -> Answer.of(RunAnswers.unknown());
      case KeyFileOutcome.NotNow(RunState state) ->
          Answer.of(RunAnswers.notNow(state, "Only a planned run takes a file."));
      case KeyFileOutcome.TypeRetired _ ->
          Answer.of(
              Problem.of(
                  ProblemCode.TYPE_RETIRED,
                  "The type of the run is retired: it gets no new public IDs. Nothing was done."));
      case KeyFileOutcome.Stopped(KeyFileOutcome.Why why, long linesSettled) ->
          Answer.of(stopped(why, linesSettled, tooSlow));
    };
  }

  private static Problem stopped(KeyFileOutcome.Why why, long linesSettled, boolean tooSlow) {
    String rest =
        RowsUpload.settled(linesSettled, why == KeyFileOutcome.Why.DATABASE_GONE)
            + "Send the whole body again: a row that has a key keeps it.";
    return switch (why) {
      case ACCESS_ENDED -> RowsUpload.accessEnded(rest);
      case DATABASE_GONE ->
          tooSlow
              ? RowsUpload.brokenOff(true, rest)
              : Problem.unavailable(ProblemCode.DATABASE_UNAVAILABLE, rest);
      case BODY_BROKEN -> RowsUpload.brokenOff(tooSlow, rest);
    };
  }
}
