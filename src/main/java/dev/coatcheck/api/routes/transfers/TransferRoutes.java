package dev.coatcheck.api.routes.transfers;

import dev.coatcheck.api.body.SharedPermits;
import dev.coatcheck.api.body.StreamedAnswer;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.IdProblems;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Handler;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.bulk.export.Exporter;
import dev.coatcheck.bulk.load.ImportOutcome;
import dev.coatcheck.bulk.load.Importer;
import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.bulk.rows.RowSummary;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.io.IOException;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Mappings by the million: {@code /v1/imports} and {@code /v1/exports}. */
public final class TransferRoutes implements Routes {
  private static final String IMPORTS = "/v1/imports";
  private static final String EXPORTS = "/v1/exports";

  private final Importer importer;
  private final Exporter exporter;
  private final Parameters parameters;
  private final Observer observer;

  public TransferRoutes(
      Importer importer, Exporter exporter, Parameters parameters, Observer observer) {
    this.importer = importer;
    this.exporter = exporter;
    this.parameters = parameters;
    this.observer = observer;
  }

  /** An import keeps a processor and a connection of Postgres busy, an export a snapshot. */
  @Override
  public void register(Endpoints endpoints) {
    Handler imports =
        new SharedPermits(
                3,
                2,
                "An instance runs three imports at a time, and two of one principal.",
                observer)
            .around(this::importAll);
    Handler exports =
        new SharedPermits(
                4,
                3,
                "An instance runs four exports at a time, and three of one principal.",
                observer)
            .around(this::exportAll);
    endpoints.lasting(HandlerType.POST, IMPORTS, Scope.IDS_WRITE, imports);
    endpoints.lasting(HandlerType.GET, EXPORTS, Scope.IDS_READ, exports);
  }

  private Answer importAll(Context ctx) throws IOException {
    RowsUpload upload = new RowsUpload(ctx);
    RequestCaller request = RequestCaller.of(ctx);
    Importer.Sender sender =
        new Importer.Sender(request.caller(), RequestCaller.actor(ctx), request::mayGoOn);
    return upload.answer(
        (rows, keyed) -> importer.run(upload.format(), rows, sender, upload.errorsMax(), keyed),
        outcome ->
            outcome instanceof ImportOutcome.Done(RowSummary summary)
                ? Optional.of(ImportView.of(summary))
                : Optional.empty(),
        this::answer);
  }

  private Answer answer(ImportOutcome outcome, boolean tooSlow) {
    return switch (outcome) {
      case ImportOutcome.Done(RowSummary summary) -> Answer.json(200, ImportView.of(summary));
      case ImportOutcome.HeaderRefused(String detail) ->
          Answer.of(Problem.of(ProblemCode.REQUEST_INVALID, detail));
      case ImportOutcome.Stopped(ImportOutcome.Reason reason, long linesSettled) ->
          Answer.of(stopped(reason, linesSettled, tooSlow));
    };
  }

  private Problem stopped(ImportOutcome.Reason reason, long linesSettled, boolean tooSlow) {
    String rest =
        RowsUpload.settled(linesSettled, reason instanceof ImportOutcome.Reason.DatabaseGone)
            + "Send the body again, whole or from that line (CSV with its header): rows that are"
            + " already in count as existing.";
    return switch (reason) {
      case ImportOutcome.Reason.BodyBroken _ -> {
        observer.observe(
            new Event.TransferBrokenOff(IMPORTS, tooSlow ? "too_slow" : "client_gone"));
        yield RowsUpload.brokenOff(tooSlow, rest);
      }
      case ImportOutcome.Reason.DatabaseGone _ ->
          Problem.unavailable(ProblemCode.DATABASE_UNAVAILABLE, rest);
      case ImportOutcome.Reason.AccessEnded _ -> RowsUpload.accessEnded(rest);
      case ImportOutcome.Reason.KeysUnavailable(KeyOutcome.NoKeys why) -> {
        Problem problem = IdProblems.keysUnavailable(why);
        yield new Problem(problem.code(), rest + " " + problem.detail(), problem.members());
      }
      case ImportOutcome.Reason.SealKeyMissing(String fingerprint) -> {
        observer.observe(new Event.SealKeyMissed(fingerprint));
        yield Problem.unavailable(
            ProblemCode.SEAL_KEY_MISSING,
            "This instance lacks the seal key " + fingerprint + " of the type. " + rest);
      }
    };
  }

  private Answer exportAll(Context ctx) throws IOException {
    Query query = Query.of(ctx, "type", "format", "include_ended");
    Type type =
        parameters.type(
            RequestCaller.types(ctx),
            "type",
            query.needed("type", "Send the name of the type whose mappings to export."));
    Parameters.requireRows(type);
    RowFormat format =
        WireNamed.find(RowFormat.class, query.text("format").orElse(RowFormat.CSV.wireName()))
            .orElseThrow(() -> Refusal.ofParameter("format", "The formats are csv and ndjson."));
    boolean includeEnded = query.bool("include_ended");
    String name = type.name() + "." + format.wireName();
    String mediaType = format.mediaType() + "; charset=utf-8";
    RequestCaller request = RequestCaller.of(ctx);
    BooleanSupplier mayRead =
        () -> request.now().get().filter(now -> now.rights().allowedTypes().hold(type)).isPresent();
    try (StreamedAnswer body = new StreamedAnswer(ctx, name, mediaType, mayRead)) {
      if (ctx.method().equals(HandlerType.HEAD)) {
        body.begin();
        body.done();
        return Answer.STREAMED;
      }
      switch (exporter.run(type, format, includeEnded, body, body::whenAborted)) {
        case DONE -> body.done();
        case READER_GONE ->
            observer.observe(new Event.TransferBrokenOff(EXPORTS, body.brokenOffBy()));
        case DATABASE_GONE ->
            observer.observe(new Event.TransferBrokenOff(EXPORTS, "database_gone"));
      }
    }
    return Answer.STREAMED;
  }
}
