package dev.coatcheck.api.console.migrations;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.console.page.FormPage;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.routes.migrations.RunAnswers;
import dev.coatcheck.api.routes.migrations.RunFields;
import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.run.ActionOutcome;
import dev.coatcheck.migrate.run.ActionRequest;
import dev.coatcheck.migrate.run.Goal;
import dev.coatcheck.migrate.run.NewKeys;
import dev.coatcheck.migrate.run.Retirement;
import dev.coatcheck.migrate.run.RunAction;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import io.javalin.http.Context;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** An action on a run: the page that says what follows, and the form that does it. */
final class ActionPage implements FormPage<TableMigration> {
  private final RunAction action;
  private final MigrationPages.Verbs verbs;
  private final TableMigrations migrations;
  private final RunAnswers answers;

  ActionPage(RunAction action, MigrationPages.Verbs verbs) {
    this.action = action;
    this.verbs = verbs;
    this.migrations = verbs.migrations();
    this.answers = new RunAnswers(verbs.migrations(), verbs.registry());
  }

  @Override
  public TableMigration subject(Context ctx, Visit visit) {
    return answers.run(ctx.pathParam("id"), visit.types());
  }

  @Override
  public Html.Template page(Visit visit, TableMigration seen, Form form, Optional<Problem> fault) {
    // The run may have changed, which may be the reason.
    TableMigration run = fault.flatMap(_ -> migrations.journal().find(seen.id())).orElse(seen);
    List<TableMigration.StepStatus> steps = migrations.journal().steps(run.id());
    boolean isPossible = action.isPossible(run, steps);
    ActionWords words = ActionWords.of(action, run);
    if (!isPossible && fault.isEmpty()) {
      throw new Refusal(
          ProblemCode.TABLE_MIGRATION_STATE,
          "Run %d of %s is %s, which leaves nothing to %s."
              .formatted(
                  run.id(),
                  run.target().table().text(),
                  run.status().state().wireName(),
                  action.wireName()));
    }
    ActionView view =
        new ActionView(
            visit.frame(Section.MIGRATIONS, words.label() + " run " + run.id()),
            action,
            words,
            run,
            verbs.registry().numbered(run.typeNumber()).map(Type::name).orElse(""),
            visit.formToken(),
            form,
            fault,
            isPossible);
    return switch (action) {
      case START -> (out, none) -> JtestartGenerated.render(out, none, view);
      case SET -> (out, none) -> JtethrottleGenerated.render(out, none, view);
      case SWITCH -> (out, none) -> JteswitchKeyGenerated.render(out, none, view);
      case UNDO ->
          (out, none) -> JteundoGenerated.render(out, none, view, RunAction.undoable(steps));
      case CONTRACT -> {
        // Looked up before the page is written, because the source may be down.
        var columns = migrations.oldColumns(run);
        yield (out, none) -> JtecontractGenerated.render(out, none, view, columns);
      }
      case RETIRE -> {
        List<Retirement.Plan> plans =
            Arrays.stream(NewKeys.values())
                .flatMap(keys -> migrations.retirement(run, keys).stream())
                .toList();
        yield (out, none) -> JteretireGenerated.render(out, none, view, plans);
      }
      case PAUSE, RESUME, RETRY, VERIFY, CANCEL, FORGET ->
          (out, none) -> JteplainGenerated.render(out, none, view);
    };
  }

  @Override
  public Answer change(Visit visit, TableMigration run, Form form) {
    if (ActionWords.of(action, run).isFinal()
        && !RunFields.isConfirmed(form.text("confirm").orElse(""), run)) {
      throw new Refusal(
          ProblemCode.FIELD_INVALID,
          "confirm",
          "Type the name of the table, %s, to confirm. Nothing was done."
              .formatted(RunFields.table(run)));
    }
    ActionOutcome outcome =
        act(run.id(), form, new ActionRequest<>(visit.actor(), Optional.empty())).outcome();
    Optional<Problem> fault = RunAnswers.refusal(outcome);
    if (fault.isPresent() && !isSecondClick(outcome)) {
      throw new Refusal(fault.get());
    }
    return Html.seeOther(RunActions.path(run.id()));
  }

  /** Whether the run is already where the button would have brought it. */
  private boolean isSecondClick(ActionOutcome outcome) {
    return outcome instanceof ActionOutcome.NotNow(RunState state, _)
        && ((action == RunAction.PAUSE && state == RunState.PAUSED)
            || (action == RunAction.RESUME && state == RunState.RUNNING));
  }

  private IdempotentResult<ActionOutcome> act(long id, Form form, ActionRequest<ActionOutcome> by) {
    ActionRequest<ActionOutcome> asked = seen(form).map(by::ifStill).orElse(by);
    return switch (action) {
      case START -> migrations.start(id, accepted(form), asked);
      case PAUSE -> migrations.pause(id, asked);
      case RESUME -> migrations.resume(id, asked);
      case RETRY -> migrations.retry(id, asked);
      case SET -> migrations.set(id, ThrottleFields.change(form), asked);
      case VERIFY -> migrations.verify(id, asked);
      case SWITCH ->
          migrations.switchWithin(
              id,
              RunFields.window(UtcField.time(form, "not_before"), UtcField.time(form, "not_after")),
              asked);
      case CONTRACT -> migrations.contract(id, accepted(form), asked);
      case RETIRE ->
          migrations.retire(id, RunFields.newKeys(form.text("new_keys").orElse("")), asked);
      case UNDO -> migrations.undo(id, RunFields.undoPhase(form.text("phase").orElse("")), asked);
      case CANCEL -> migrations.cancel(id, asked);
      case FORGET -> migrations.forget(id, asked);
    };
  }

  private static List<String> accepted(Form form) {
    return RunFields.accepted(form.ticked(ActionView.ACCEPT));
  }

  /** The state that the page of the form has shown. */
  private static Optional<ActionRequest.Seen> seen(Form form) {
    String[] parts = form.sent(ActionView.SEEN).split(" ", 2);
    return parts.length == 1
        ? Optional.empty()
        : WireNamed.find(RunState.class, parts[0])
            .flatMap(
                state ->
                    WireNamed.find(Goal.class, parts[1])
                        .map(goal -> new ActionRequest.Seen(state, goal)));
  }
}
