package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.exchange.RequestBody;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.migrate.run.ActionOutcome;
import dev.coatcheck.migrate.run.ActionRequest;
import dev.coatcheck.migrate.run.NewKeys;
import dev.coatcheck.migrate.run.RunAction;
import dev.coatcheck.migrate.run.SwitchWindow;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.table.Phase;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The actions on a run: start, pause, resume, retry, cancel, verify, switch, contract, retire,
 * undo, forget. A long action is answered with 202 and continues.
 */
final class ActionRoutes {
  private static final int ACCEPTED_MAX = 100;
  private static final String NO_BODY = "";
  private final TableMigrations migrations;
  private final RunAnswers answers;

  ActionRoutes(TableMigrations migrations, RunAnswers answers) {
    this.migrations = migrations;
    this.answers = answers;
  }

  void register(Endpoints endpoints) {
    action(endpoints, "/pause", 200, migrations::pause);
    action(endpoints, "/resume", 202, migrations::resume);
    action(endpoints, "/retry", 202, migrations::retry);
    action(endpoints, "/cancel", 200, migrations::cancel);
    action(endpoints, "/verify", 202, migrations::verify);
    action(endpoints, "/forget", 200, migrations::forget);
    Scope needed = Scope.TABLE_MIGRATIONS_WRITE;
    endpoints.json(HandlerType.POST, TableMigrationRoutes.ONE + "/start", needed, this::start);
    endpoints.optionalJson(
        HandlerType.POST, TableMigrationRoutes.ONE + "/switch", needed, this::switchKey);
    endpoints.json(
        HandlerType.POST, TableMigrationRoutes.ONE + "/contract", needed, this::contract);
    endpoints.json(HandlerType.POST, TableMigrationRoutes.ONE + "/retire", needed, this::retire);
    endpoints.json(HandlerType.POST, TableMigrationRoutes.ONE + "/undo", needed, this::undo);
    endpoints.json(HandlerType.PATCH, TableMigrationRoutes.ONE, needed, this::set);
  }

  /** An action without parameters. */
  private interface Action {
    IdempotentResult<ActionOutcome> act(long id, ActionRequest<ActionOutcome> asked);
  }

  private void action(Endpoints endpoints, String verb, int statusIfDone, Action action) {
    endpoints.secured(
        HandlerType.POST,
        TableMigrationRoutes.ONE + verb,
        Scope.TABLE_MIGRATIONS_WRITE,
        ctx -> {
          Query.none(ctx);
          long id = answers.id(ctx);
          return answers.act(ctx, statusIfDone, NO_BODY, asked -> action.act(id, asked));
        });
  }

  private Answer start(Context ctx, RequestBody request) {
    List<String> accepted = accepted(request.object().allow("accept"));
    long id = answers.id(ctx);
    return answers.act(ctx, 202, request.sha256(), asked -> migrations.start(id, accepted, asked));
  }

  private static List<String> accepted(JsonObject body) {
    List<String> accepted = body.optionalStrings("accept", ACCEPTED_MAX);
    return RunFields.accepted(accepted);
  }

  /** The client has to send the name of the table, because contract can't be undone. */
  private Answer contract(Context ctx, RequestBody request) {
    JsonObject body = request.object().allow("confirm", "accept");
    String typed = body.string("confirm");
    List<String> accepted = accepted(body);
    return answers.ifKnown(
        ctx,
        run -> {
          confirmed(body, typed, run);
          return answers.act(
              ctx, 202, request.sha256(), asked -> migrations.contract(run.id(), accepted, asked));
        });
  }

  /** The client has to send the name of the table, as for contract. */
  private Answer retire(Context ctx, RequestBody request) {
    JsonObject body = request.object().allow("confirm", "new_keys");
    String typed = body.string("confirm");
    NewKeys newKeys = RunFields.newKeys(body.string("new_keys"));
    return answers.ifKnown(
        ctx,
        run -> {
          confirmed(body, typed, run);
          return answers.act(
              ctx, 200, request.sha256(), asked -> migrations.retire(run.id(), newKeys, asked));
        });
  }

  private static void confirmed(JsonObject body, String typed, TableMigration run) {
    if (!RunFields.isConfirmed(typed, run)) {
      throw body.invalid(
          "confirm",
          "Send the name of the table of the run, " + RunFields.table(run) + ", to confirm.");
    }
  }

  private Answer switchKey(Context ctx, RequestBody request) {
    JsonObject body = request.object().allow("not_before", "not_after");
    SwitchWindow window =
        RunFields.window(body.nullableTime("not_before"), body.nullableTime("not_after"));
    long id = answers.id(ctx);
    return answers.act(
        ctx, 202, request.sha256(), asked -> migrations.switchWithin(id, window, asked));
  }

  private Answer undo(Context ctx, RequestBody request) {
    JsonObject body = request.object().allow("phase");
    Optional<Phase> phase = body.nullableString("phase").map(RunFields::undoPhase);
    long id = answers.id(ctx);
    return answers.act(
        ctx,
        202,
        request.sha256(),
        asked -> migrations.undo(id, phase.orElseGet(() -> lastPhase(id)), asked));
  }

  /** The last phase that has left something on the table. */
  private Phase lastPhase(long id) {
    return RunAction.undoable(migrations.journal().steps(id)).getFirst();
  }

  private Answer set(Context ctx, RequestBody request) {
    UnaryOperator<ThrottleSettings> change = ThrottleBody.change(request.object());
    long id = answers.id(ctx);
    return answers.act(ctx, 200, request.sha256(), asked -> migrations.set(id, change, asked));
  }
}
