package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Admission;
import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.ImportView;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Query;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.api.server.RowsBody;
import dev.coatcheck.api.server.StreamedAnswer;
import dev.coatcheck.bulk.load.ImportOutcome;
import dev.coatcheck.bulk.load.Transfers;
import dev.coatcheck.bulk.rows.RowFormat;
import dev.coatcheck.core.key.KeyDraw;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import io.javalin.http.HandlerType;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/** Mappings by the million: {@code /v1/imports} and {@code /v1/exports}. */
public final class TransferRoutes {
  private static final String IMPORTS = "/v1/imports";
  private static final String EXPORTS = "/v1/exports";

  /** Each holds a connection and may last for minutes; requests need the other connections. */
  private static final int TRANSFERS_MAX = 2;

  private final Transfers transfers;
  private final Registry registry;
  private final Problems problems;
  private final Observer observer;
  private final Admission places = new Admission(TRANSFERS_MAX);

  public TransferRoutes(
      Transfers transfers, Registry registry, Problems problems, Observer observer) {
    this.transfers = transfers;
    this.registry = registry;
    this.problems = problems;
    this.observer = observer;
  }

  public void register(Endpoints endpoints) {
    endpoints.lasting(
        HandlerType.POST, IMPORTS, Scope.IDS_WRITE, inPlace(IMPORTS, this::importAll));
    endpoints.lasting(HandlerType.GET, EXPORTS, Scope.IDS_READ, inPlace(EXPORTS, this::exportAll));
  }

  private Handler inPlace(String path, Handler handler) {
    return ctx -> {
      if (!places.enter()) {
        observer.observe(new Event.RequestShed(path));
        problems.write(
            ctx,
            Problem.retryAfter(
                ProblemCode.OVERLOADED,
                "An instance does two imports or exports at a time. Send the request again.",
                Problems.jitteredSeconds()));
        return;
      }
      try {
        handler.handle(ctx);
      } finally {
        places.leave();
      }
    };
  }

  private void importAll(Context ctx) throws IOException {
    Query.allow(ctx, RowsBody.ERRORS_MAX);
    int errorsMax = RowsBody.errorsMax(ctx);
    RowFormat format = RowsBody.format(ctx);
    InputStream body = ctx.req().getInputStream();
    switch (transfers.importer().run(format, body, Endpoints.caller(ctx), errorsMax)) {
      case ImportOutcome.Done(ImportOutcome.Summary summary) ->
          Answer.json(ctx, 200, view(summary));
      case ImportOutcome.HeaderRefused(String detail) -> {
        // A client that is cut off while it sends may never see the answer.
        RowsBody.drain(body);
        problems.write(ctx, Problem.of(ProblemCode.REQUEST_INVALID, detail));
      }
      case ImportOutcome.Stopped(ImportOutcome.Reason reason, long linesSettled) ->
          problems.write(ctx, stopped(reason, linesSettled));
    }
  }

  private static ImportView view(ImportOutcome.Summary summary) {
    return ImportView.of(
        summary.created(),
        summary.existing(),
        summary.refused(),
        summary.errors().stream()
            .map(error -> ImportView.RowErrorView.of(error.line(), error.fault()))
            .toList());
  }

  private static Problem stopped(ImportOutcome.Reason reason, long linesSettled) {
    String what =
        "Up to line %d all is done, nothing after it. Send the body again, whole or from there: what is in counts as existing."
            .formatted(linesSettled);
    return switch (reason) {
      case ImportOutcome.Reason.BodyBroken _ ->
          Problem.of(ProblemCode.REQUEST_INVALID, "The body could not be read to its end. " + what);
      case ImportOutcome.Reason.DatabaseGone _ ->
          Problem.retryAfter(ProblemCode.DATABASE_UNAVAILABLE, what, Problems.jitteredSeconds());
      case ImportOutcome.Reason.KeysUnavailable(KeyDraw.NoKeys why) ->
          IdRoutes.keysUnavailable(why, what + " ");
    };
  }

  private void exportAll(Context ctx) {
    Query.allow(ctx, "type", "format", "include_ended");
    String name = parameter(ctx, "type", "");
    if (name.isEmpty()) {
      throw Refusal.ofParameter("type", "Say which type's mappings to export.");
    }
    Type type = TypeRoutes.typeNamed(registry, "type", name);
    RowFormat format =
        RowFormat.named(parameter(ctx, "format", RowFormat.CSV.wireName()))
            .orElseThrow(() -> Refusal.ofParameter("format", "The formats are csv and ndjson."));
    boolean includeEnded =
        switch (parameter(ctx, "include_ended", "false")) {
          case "true" -> true;
          case "false" -> false;
          default -> throw Refusal.ofParameter("include_ended", "This must be true or false.");
        };
    StreamedAnswer body =
        new StreamedAnswer(
            ctx, type.name() + "." + format.wireName(), format.mediaType() + "; charset=utf-8");
    switch (transfers.exporter().run(type, format, includeEnded, body)) {
      case DONE -> {}
      case READER_GONE, DATABASE_GONE -> body.abort();
    }
  }

  private static String parameter(Context ctx, String name, String otherwise) {
    return Optional.ofNullable(ctx.queryParam(name)).orElse(otherwise);
  }
}
