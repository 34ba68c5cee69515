package dev.coatcheck.api.routes;

import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.ImportView;
import dev.coatcheck.api.server.PacedBody;
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
import dev.coatcheck.ids.idempotency.IdempotentFile;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.idempotency.StoredResponse;
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
  private static final String TOO_SLOW = "too_slow";
  private static final String CLIENT_GONE = "client_gone";

  private final Transfers transfers;
  private final Registry registry;
  private final Problems problems;
  private final Observer observer;

  /** Each keeps a processor and a connection of Postgres busy. */
  private final TransferPermits imports = new TransferPermits(3, 2);

  /** Each keeps a snapshot and a connection of Postgres. */
  private final TransferPermits exports = new TransferPermits(4, 3);

  public TransferRoutes(
      Transfers transfers, Registry registry, Problems problems, Observer observer) {
    this.transfers = transfers;
    this.registry = registry;
    this.problems = problems;
    this.observer = observer;
  }

  public void register(Endpoints endpoints) {
    endpoints.lasting(
        HandlerType.POST,
        IMPORTS,
        Scope.IDS_WRITE,
        permitted(
            IMPORTS,
            imports,
            "An instance does three imports at a time, two of them for one principal.",
            this::importAll));
    endpoints.lasting(
        HandlerType.GET,
        EXPORTS,
        Scope.IDS_READ,
        permitted(
            EXPORTS,
            exports,
            "An instance does four exports at a time, three of them for one principal.",
            this::exportAll));
  }

  private Handler permitted(String path, TransferPermits permits, String most, Handler handler) {
    return ctx -> {
      String principal = Endpoints.caller(ctx).principal();
      if (!permits.take(principal)) {
        observer.observe(new Event.RequestShed(path));
        problems.write(
            ctx,
            Problem.retryAfter(
                ProblemCode.OVERLOADED,
                most + " Send the request again.",
                Problems.jitteredSeconds()));
        return;
      }
      try {
        handler.handle(ctx);
      } finally {
        permits.giveBack(principal);
      }
    };
  }

  private void importAll(Context ctx) throws IOException {
    Query.allow(ctx, RowsBody.ERRORS_MAX);
    int errorsMax = RowsBody.errorsMax(ctx);
    RowFormat format = RowsBody.format(ctx);
    Optional<IdempotentFile.Keyed<ImportOutcome>> keyed =
        IdempotencyHeader.onceFile(
            ctx,
            format,
            errorsMax,
            outcome ->
                outcome instanceof ImportOutcome.Done(ImportOutcome.Summary summary)
                    ? Optional.of(Answer.json(200, view(summary)))
                    : Optional.empty());
    InputStream sent = ctx.req().getInputStream();
    IdempotentResult<ImportOutcome> result;
    boolean tooSlow;
    try (PacedBody body = new PacedBody(sent)) {
      result = transfers.importer().run(format, body, Endpoints.caller(ctx), errorsMax, keyed);
      tooSlow = body.isTooSlow();
    }
    switch (result) {
      case IdempotentResult.Unkeyed<ImportOutcome>(ImportOutcome outcome) ->
          send(ctx, outcome, sent, tooSlow);
      case IdempotentResult.Answered<ImportOutcome>(StoredResponse answer, boolean replayed) ->
          IdempotencyHeader.send(ctx, answer, replayed);
      case IdempotentResult.KeyReused<ImportOutcome> _ ->
          problems.write(ctx, IdempotencyHeader.reusedForFile());
      case IdempotentResult.Busy<ImportOutcome> _ ->
          problems.write(ctx, IdempotencyHeader.fileIsBusy());
    }
  }

  private void send(Context ctx, ImportOutcome outcome, InputStream sent, boolean tooSlow)
      throws IOException {
    switch (outcome) {
      case ImportOutcome.Done(ImportOutcome.Summary summary) ->
          Answer.json(ctx, 200, view(summary));
      case ImportOutcome.HeaderRefused(String detail) -> {
        // A client that is cut off while it sends may never see the answer.
        RowsBody.drain(sent);
        problems.write(ctx, Problem.of(ProblemCode.REQUEST_INVALID, detail));
      }
      case ImportOutcome.Stopped(ImportOutcome.Reason reason, long linesSettled) -> {
        if (tooSlow) {
          // Jetty would wait for the rest of the body.
          ctx.header("Connection", "close");
        }
        if (reason instanceof ImportOutcome.Reason.BodyBroken) {
          brokenOff(IMPORTS, tooSlow ? TOO_SLOW : CLIENT_GONE);
        }
        problems.write(ctx, stopped(reason, linesSettled, tooSlow));
      }
    }
  }

  private void brokenOff(String route, String reason) {
    observer.observe(new Event.TransferBrokenOff(route, reason));
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

  private static Problem stopped(ImportOutcome.Reason reason, long linesSettled, boolean tooSlow) {
    String what =
        "Up to line %d all is done, nothing after it. Send the body again, whole or from there: what is in counts as existing."
            .formatted(linesSettled);
    return switch (reason) {
      case ImportOutcome.Reason.BodyBroken _ ->
          tooSlow
              ? Problem.of(ProblemCode.REQUEST_TIMEOUT, "The body came too slowly. " + what)
              : Problem.of(
                  ProblemCode.REQUEST_INVALID, "The body could not be read to its end. " + what);
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
    try (StreamedAnswer body =
        new StreamedAnswer(
            ctx, type.name() + "." + format.wireName(), format.mediaType() + "; charset=utf-8")) {
      switch (transfers.exporter().run(type, format, includeEnded, body)) {
        case DONE -> {}
        case READER_GONE -> {
          brokenOff(EXPORTS, body.isTooSlow() ? TOO_SLOW : CLIENT_GONE);
          body.abort();
        }
        case DATABASE_GONE -> {
          brokenOff(EXPORTS, "database_gone");
          body.abort();
        }
      }
    }
  }

  private static String parameter(Context ctx, String name, String otherwise) {
    return Optional.ofNullable(ctx.queryParam(name)).orElse(otherwise);
  }
}
