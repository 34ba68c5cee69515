package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.IdempotencyHeader;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import dev.coatcheck.api.exchange.RequestCaller;
import dev.coatcheck.api.routes.migrations.TableMigrationView.PlanView;
import dev.coatcheck.api.routes.migrations.TableMigrationView.SetAsideView;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.run.ActionOutcome;
import dev.coatcheck.migrate.run.ActionRequest;
import dev.coatcheck.migrate.run.PlanOutcome;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.migrate.source.Diagnostic;
import io.javalin.http.Context;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds the run of a path, and answers with the result of an action. */
public final class RunAnswers {
  private static final Pattern ID = Pattern.compile("[1-9][0-9]{0,17}");

  private static final Diagnostic TABLE_MALFORMED =
      new Diagnostic(
          "table_malformed",
          "Write the table as table or schema.table, in the spelling of the catalog; a name that"
              + " contains a dot goes in double quotes.");

  private final TableMigrations migrations;
  private final Registry registry;

  public RunAnswers(TableMigrations migrations, Registry registry) {
    this.migrations = migrations;
    this.registry = registry;
  }

  /**
   * The number in the path.
   *
   * @throws Refusal if it is none; or if the caller's key is for some types, and the run is unknown
   *     or of another type, with the same answer
   */
  long id(Context ctx) {
    return id(ctx.pathParam("id"), RequestCaller.types(ctx));
  }

  private long id(String text, AllowedTypes allowed) {
    boolean isNumber = ID.matcher(text).matches();
    if (!allowed.areAll()
        && (!isNumber
            || migrations
                .journal()
                .find(Long.parseLong(text))
                .filter(run -> isOf(allowed, run))
                .isEmpty())) {
      throw new Refusal(Problem.typeNotAllowed());
    }
    if (!isNumber) {
      throw new Refusal(unknown());
    }
    return Long.parseLong(text);
  }

  /** Whether the run is of a type that the caller may use. */
  public boolean isOf(AllowedTypes allowed, TableMigration run) {
    return isOf(allowed, run.typeNumber());
  }

  /** The same for a stream, which must not hold the run: a plan with its SQL is large. */
  public boolean isOf(AllowedTypes allowed, int typeNumber) {
    return allowed.areAll() || registry.numbered(typeNumber).filter(allowed::hold).isPresent();
  }

  /**
   * The run with a number.
   *
   * @throws Refusal if there is none, or it is of a type that the caller may not use
   */
  public TableMigration run(String id, AllowedTypes allowed) {
    return migrations.journal().find(id(id, allowed)).orElseThrow(() -> new Refusal(unknown()));
  }

  /** Answers with the run of the path, if it exists. */
  Answer ifKnown(Context ctx, Function<TableMigration, Answer> answer) {
    return migrations.journal().find(id(ctx)).map(answer).orElseGet(() -> Answer.of(unknown()));
  }

  TableMigrationView brief(TableMigration run) {
    return TableMigrationView.of(run, registry.numbered(run.typeNumber()).map(Type::name));
  }

  TableMigrationView.Whole withPlan(TableMigration run) {
    return withPlan(
        new TableMigration.Whole(
            run, migrations.journal().steps(run.id()), migrations.journal().setAside(run.id())));
  }

  TableMigrationView.Whole withPlan(TableMigration.Whole whole) {
    return view(whole, PlanView.of(whole.run()));
  }

  /**
   * Does what the request asks for, and answers with the run or the reason of a refusal. Does it
   * once if the request has an Idempotency-Key.
   */
  Answer act(
      Context ctx,
      int statusIfDone,
      String bodyHash,
      Function<ActionRequest<ActionOutcome>, IdempotentResult<ActionOutcome>> action) {
    return act(ctx, bodyHash, action, outcome -> answer(outcome, statusIfDone));
  }

  /**
   * Like the other method, for any outcome.
   *
   * @param answer called inside the transaction of the action, so it may use only the outcome
   */
  <T> Answer act(
      Context ctx,
      String bodyHash,
      Function<ActionRequest<T>, IdempotentResult<T>> action,
      Function<T, Answer> answer) {
    String request = ctx.method() + " " + ctx.path() + " " + bodyHash;
    ActionRequest<T> asked =
        new ActionRequest<>(RequestCaller.actor(ctx), IdempotencyHeader.once(ctx, request, answer));
    return IdempotencyHeader.answer(action.apply(asked), answer);
  }

  private Answer answer(ActionOutcome outcome, int statusIfDone) {
    return outcome instanceof ActionOutcome.Done(TableMigration.Whole whole)
        ? Answer.json(statusIfDone, view(whole, null))
        : Answer.of(refusal(outcome).orElseThrow());
  }

  /** Why an action was not done; empty if it was. */
  public static Optional<Problem> refusal(ActionOutcome outcome) {
    return switch (outcome) {
      case ActionOutcome.Done _ -> Optional.empty();
      case ActionOutcome.NotFound _ -> Optional.of(unknown());
      case ActionOutcome.NotNow(RunState state, String detail) ->
          Optional.of(notNow(state, detail));
      case ActionOutcome.Unfinished(String detail) ->
          Optional.of(Problem.of(ProblemCode.RETIREMENT_UNFINISHED, detail));
      case ActionOutcome.NotAccepted(List<Diagnostic> missing) ->
          Optional.of(
              new Problem(
                  ProblemCode.PRECONDITIONS_NOT_ACCEPTED,
                  "Meet each precondition in preconditions, then send its code in accept.",
                  new Problem.NotAccepted(missing)));
      case ActionOutcome.Refused(List<Diagnostic> findings) -> Optional.of(refused(findings));
    };
  }

  /** Why a table was not planned; empty if it was. */
  public static Optional<Problem> refusal(PlanOutcome outcome) {
    return switch (outcome) {
      case PlanOutcome.Planned _ -> Optional.empty();
      case PlanOutcome.SourceUnknown _ ->
          Optional.of(
              Problem.at(
                  ProblemCode.SOURCE_UNKNOWN,
                  "source",
                  "No source has this name. COATCHECK_SOURCE_<NAME>_URL registers a source; gateway"
                      + " is the gateway's own database."));
      case PlanOutcome.Refused(List<Diagnostic> findings) -> Optional.of(refused(findings));
    };
  }

  /** The answer to a text that is no name of a table. */
  public static Problem tableMalformed() {
    return refused(List.of(TABLE_MALFORMED));
  }

  static Problem unknown() {
    return Problem.at(
        ProblemCode.TABLE_MIGRATION_UNKNOWN,
        "id",
        "No run has this number. GET /v1/table-migrations lists the runs.");
  }

  /** The old columns don't exist: not yet, or not any more. */
  public static Problem notSwitched(TableMigration run) {
    return notNow(
        run.status().state(),
        "Use of the old columns is known from the switch of the primary key on, until they are"
            + " gone.");
  }

  /** There is nothing to retire: not yet, or not any more. */
  public static Problem notContracted(TableMigration run) {
    return notNow(run.status().state(), "A run is retired once, after contract.");
  }

  /**
   * @param detail in which states it can be done
   */
  static Problem notNow(RunState state, String detail) {
    return Problem.of(
        ProblemCode.TABLE_MIGRATION_STATE, "The run is " + state.wireName() + ". " + detail);
  }

  static Problem refused(List<Diagnostic> findings) {
    return new Problem(
        ProblemCode.TABLE_MIGRATION_REFUSED,
        "Nothing was changed. Each entry of refusals says what to do.",
        new Problem.RefusedTable(findings));
  }

  private TableMigrationView.Whole view(TableMigration.Whole whole, @Nullable PlanView plan) {
    return new TableMigrationView.Whole(
        brief(whole.run()),
        whole.steps(),
        whole.setAside().stream().map(SetAsideView::of).toList(),
        TableMigrationView.report(whole.run()),
        plan);
  }
}
