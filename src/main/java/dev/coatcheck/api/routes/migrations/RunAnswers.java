package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.routes.migrations.TableMigrationView.PlanView;
import dev.coatcheck.api.routes.migrations.TableMigrationView.RangeView;
import dev.coatcheck.api.routes.migrations.TableMigrationView.StepView;
import dev.coatcheck.api.server.Answer;
import dev.coatcheck.api.server.Problem;
import dev.coatcheck.api.server.ProblemCode;
import dev.coatcheck.api.server.Problems;
import dev.coatcheck.api.server.Refusal;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.inspect.Finding;
import dev.coatcheck.migrate.run.ActionOutcome;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import io.javalin.http.Context;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds the run that a path names, and says what became of it. */
final class RunAnswers {
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
    return whole(run, PlanView.of(run.plan()));
  }

  /** Answers with the run, or why it is not to be. */
  void send(Context ctx, int statusIfDone, ActionOutcome outcome) {
    switch (outcome) {
      case ActionOutcome.Done(TableMigration run) ->
          Answer.json(ctx, statusIfDone, whole(run, null));
      case ActionOutcome.NotFound _ -> problems.write(ctx, unknown());
      case ActionOutcome.NotNow(RunState state, String detail) ->
          problems.write(
              ctx,
              Problem.of(
                  ProblemCode.TABLE_MIGRATION_STATE,
                  "The run is " + state.wireName() + ". " + detail));
      case ActionOutcome.NotAccepted(List<Finding> missing) ->
          problems.write(ctx, Problem.notAccepted(missing));
      case ActionOutcome.Refused(List<Finding> findings) ->
          problems.write(ctx, Problem.tableRefused(findings));
    }
  }

  static Problem unknown() {
    return Problem.at(
        ProblemCode.TABLE_MIGRATION_UNKNOWN, "id", "GET /v1/table-migrations lists them.");
  }

  private TableMigrationView.Whole whole(TableMigration run, @Nullable PlanView plan) {
    return new TableMigrationView.Whole(
        brief(run),
        migrations.steps(run.id()).stream().map(StepView::of).toList(),
        migrations.failedRanges(run.id()).stream().map(RangeView::of).toList(),
        TableMigrationView.report(run),
        plan);
  }

  private Optional<String> type(TableMigration run) {
    return registry.numbered(run.typeNumber()).map(Type::name);
  }
}
