package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.routes.IdempotencyHeader;
import dev.coatcheck.api.routes.migrations.TableMigrationView.PlanView;
import dev.coatcheck.api.routes.migrations.TableMigrationView.SetAsideView;
import dev.coatcheck.api.routes.migrations.TableMigrationView.StepView;
import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.api.server.RequestId;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.idempotency.StoredResponse;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.inspect.Diagnostic;
import dev.coatcheck.migrate.run.ActionOutcome;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.migrate.run.TableMigrations.Asked;
import io.javalin.http.Context;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds the run that a path names, and says what became of it. */
final class RunAnswers {
  private static final int RETRY_BUSY_SECONDS = 1;
  private static final Pattern ID = Pattern.compile("[1-9][0-9]{0,17}");

  private final TableMigrations migrations;
  private final Registry registry;
  private final Problems problems;

  RunAnswers(TableMigrations migrations, Registry registry, Problems problems) {
    this.migrations = migrations;
    this.registry = registry;
    this.problems = problems;
  }

  /** The ID in the path. */
  static long id(Context ctx) {
    String text = ctx.pathParam("id");
    if (!ID.matcher(text).matches()) {
      throw new Refusal(unknown());
    }
    return Long.parseLong(text);
  }

  /** The run of the path. */
  TableMigration run(Context ctx) {
    return migrations.find(id(ctx)).orElseThrow(() -> new Refusal(unknown()));
  }

  TableMigrationView brief(TableMigration run) {
    return TableMigrationView.of(run, type(run));
  }

  TableMigrationView.Whole withPlan(TableMigration run) {
    return withPlan(
        new TableMigration.Whole(run, migrations.steps(run.id()), migrations.setAside(run.id())));
  }

  TableMigrationView.Whole withPlan(TableMigration.Whole whole) {
    return view(whole, PlanView.of(whole.run().plan()));
  }

  /**
   * Does what the request asks for and answers with the run, or why it is not to be; once if the
   * request has an Idempotency-Key.
   */
  void act(
      Context ctx,
      int statusIfDone,
      String bodyHash,
      Function<Asked<ActionOutcome>, IdempotentResult<ActionOutcome>> action) {
    String requestId = RequestId.of(ctx);
    answer(ctx, bodyHash, outcome -> rendered(outcome, statusIfDone, requestId), action);
  }

  /**
   * The same for any outcome.
   *
   * @param render called inside the transaction of the action: all it needs is in the outcome
   */
  <T> void answer(
      Context ctx,
      String bodyHash,
      Function<T, Answer> render,
      Function<Asked<T>, IdempotentResult<T>> action) {
    String request = ctx.method() + " " + ctx.path() + " " + bodyHash;
    Asked<T> asked =
        new Asked<>(
            Endpoints.caller(ctx).principal(), IdempotencyHeader.once(ctx, request, render));
    switch (action.apply(asked)) {
      case IdempotentResult.Unkeyed<T>(T outcome) -> render.apply(outcome).send(ctx);
      case IdempotentResult.Answered<T>(StoredResponse answer, boolean replayed) ->
          IdempotencyHeader.send(ctx, answer, replayed);
      case IdempotentResult.KeyReused<T> _ -> problems.write(ctx, IdempotencyHeader.reused());
      case IdempotentResult.Busy<T> _ ->
          problems.write(
              ctx,
              Problem.retryAfter(
                  ProblemCode.BUSY,
                  "Another transaction is working on this Idempotency-Key. Nothing was done; send"
                      + " the same request again.",
                  RETRY_BUSY_SECONDS));
    }
  }

  private Answer rendered(ActionOutcome outcome, int statusIfDone, String requestId) {
    return switch (outcome) {
      case ActionOutcome.Done(TableMigration.Whole whole) ->
          Answer.json(statusIfDone, view(whole, null));
      case ActionOutcome.NotFound _ -> Problems.answer(unknown(), requestId);
      case ActionOutcome.NotNow(RunState state, String detail) ->
          Problems.answer(
              Problem.of(
                  ProblemCode.TABLE_MIGRATION_STATE,
                  "The run is " + state.wireName() + ". " + detail),
              requestId);
      case ActionOutcome.NotAccepted(List<Diagnostic> missing) ->
          Problems.answer(Problem.notAccepted(missing), requestId);
      case ActionOutcome.Refused(List<Diagnostic> findings) ->
          Problems.answer(Problem.tableRefused(findings), requestId);
    };
  }

  static Problem unknown() {
    return Problem.at(
        ProblemCode.TABLE_MIGRATION_UNKNOWN, "id", "GET /v1/table-migrations lists them.");
  }

  private TableMigrationView.Whole view(TableMigration.Whole whole, @Nullable PlanView plan) {
    return new TableMigrationView.Whole(
        brief(whole.run()),
        whole.steps().stream().map(StepView::of).toList(),
        whole.setAside().stream().map(SetAsideView::of).toList(),
        TableMigrationView.report(whole.run()),
        plan);
  }

  private Optional<String> type(TableMigration run) {
    return registry.numbered(run.typeNumber()).map(Type::name);
  }
}
