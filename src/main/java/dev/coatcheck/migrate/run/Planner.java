package dev.coatcheck.migrate.run;

import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.backfill.TimeSample;
import dev.coatcheck.migrate.inspect.Diagnostic;
import dev.coatcheck.migrate.inspect.Inspection;
import dev.coatcheck.migrate.inspect.Inventory;
import dev.coatcheck.migrate.inspect.Precondition;
import dev.coatcheck.migrate.inspect.TableShape;
import dev.coatcheck.migrate.run.Plan.PlannedStep;
import dev.coatcheck.migrate.run.TableMigrations.Asked;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.source.TableFinder;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.TableSpec;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.steps.Step;
import dev.coatcheck.migrate.steps.Steps;
import dev.coatcheck.migrate.steps.Trial;
import dev.coatcheck.postgres.connection.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** Looks at a table and says what would be done to it, or why nothing can be. */
final class Planner {
  /** For all that a plan asks of the table's server, which may be slow and large. */
  private static final Duration LOOK_MAX = Duration.ofSeconds(60);

  /** Also what the unique indexes say when two start at once. */
  static final Diagnostic BUSY =
      new Diagnostic(
          "migration_active",
          "Another run of this table or type is on the table. Undo that run first.");

  private static final Diagnostic TYPE_KEYS =
      new Diagnostic(
          "type_unsuitable",
          "The type must have Snowflake keys of the default layout. Create one for this table.");
  private static final Diagnostic KEYS_FORGOTTEN =
      new Diagnostic(
          "keys_forgotten",
          "The keys of an earlier run were forgotten, but the public IDs of this type have them. A"
              + " new run would give the rows different keys. Create another type for this table.");
  private static final Diagnostic CHANGED =
      new Diagnostic(
          "table_changed", "The table differs from the planned table. Plan the migration again.");

  /** The precondition that the shape of a row may change. */
  private static final String ROW_SHAPE = "row_shape";

  private final RunStore store;
  private final EventStore events;
  private final Sources sources;
  private final Inventory inventory = new Inventory();

  Planner(RunStore store, EventStore events, Sources sources) {
    this.store = store;
    this.events = events;
    this.sources = sources;
  }

  /** A repeated request is answered before its table is looked at. */
  IdempotentResult<PlanOutcome> plan(PlanRequest request, Asked<PlanOutcome> asked) {
    return store
        .answered(asked)
        .orElseGet(() -> Deadline.after(LOOK_MAX).call(() -> planned(request, asked)));
  }

  private IdempotentResult<PlanOutcome> planned(PlanRequest request, Asked<PlanOutcome> asked) {
    Optional<Source> source = sources.named(request.source());
    if (source.isEmpty()) {
      return store.refuse(asked, new PlanOutcome.SourceUnknown());
    }
    Type type = request.type();
    if (type.keyScheme() != KeyScheme.SNOWFLAKE
        || !type.keyLayout().equals(SnowflakeLayout.DEFAULT)) {
      return store.refuse(asked, new PlanOutcome.Refused(List.of(TYPE_KEYS)));
    }
    boolean isTaken = store.occupying().stream().anyMatch(run -> run.typeNumber() == type.number());
    if (isTaken) {
      return store.refuse(asked, new PlanOutcome.Refused(List.of(BUSY)));
    }
    if (events.hasForgotten(type.number())) {
      return store.refuse(asked, new PlanOutcome.Refused(List.of(KEYS_FORGOTTEN)));
    }
    TableSpec wish =
        new TableSpec(
            request.schema(),
            request.table(),
            request.createdAtColumn(),
            request.keepPrimaryKey(),
            SnowflakeLayout.DEFAULT.epochMillis());
    return switch (inventory.inspect(source.get(), wish)) {
      case Inspection.Refused(List<Diagnostic> findings) ->
          store.refuse(asked, new PlanOutcome.Refused(findings));
      case Inspection.Sound(TableShape shape) -> write(request, source.get(), shape, asked);
    };
  }

  /** What by now speaks against a run that was planned. */
  List<Diagnostic> refusals(TableMigration run) {
    return Deadline.after(LOOK_MAX).call(() -> lookedAgain(run));
  }

  private List<Diagnostic> lookedAgain(TableMigration run) {
    Source source = sources.named(run.source()).orElseThrow();
    return TableFinder.now(source.database(), run.target())
        .map(now -> look(source, now, run))
        .orElseGet(() -> List.of(CHANGED));
  }

  /**
   * Tries one row, and rolls back.
   *
   * @param accepted preconditions; a table whose shape breaks its own triggers is not tried
   */
  Optional<Diagnostic> trial(TableMigration run, List<String> accepted) {
    Source source = sources.named(run.source()).orElseThrow();
    return isKnownToFail(run.plan(), accepted)
        ? Optional.empty()
        : TableFinder.now(source.database(), run.target())
            .flatMap(now -> Trial.of(source.settings(), now))
            .map(Planner::failed);
  }

  private static boolean isKnownToFail(Plan plan, List<String> accepted) {
    return accepted.contains(ROW_SHAPE)
        && plan.preconditions().stream()
            .anyMatch(
                condition -> condition.code().equals(ROW_SHAPE) && !condition.found().isEmpty());
  }

  private static Diagnostic failed(String why) {
    return new Diagnostic(
        "trial_failed",
        "The run was tried with one row and rolled back. The trial failed: "
            + why
            + " Correct the cause, or plan again with the application's search path if names were"
            + " not found.");
  }

  private List<Diagnostic> look(Source source, Target target, TableMigration run) {
    TableSpec wish =
        new TableSpec(
            target.table().schema(),
            target.table().table(),
            target.createdAt().map(Target.TimeColumn::name),
            run.keepPrimaryKey(),
            SnowflakeLayout.DEFAULT.epochMillis());
    return switch (inventory.inspect(source, wish)) {
      case Inspection.Refused(List<Diagnostic> findings) -> findings;
      case Inspection.Sound(TableShape shape) ->
          shape.keyColumn().equals(target.keyColumn())
              ? unplanned(run.plan(), shape)
              : List.of(CHANGED);
    };
  }

  /** What the application has to meet by now, and nobody was asked about. */
  private static List<Diagnostic> unplanned(Plan plan, TableShape shape) {
    Set<String> planned =
        plan.preconditions().stream().map(Precondition::code).collect(Collectors.toSet());
    return shape.preconditions().stream()
        .filter(condition -> !condition.found().isEmpty())
        .filter(condition -> !planned.contains(condition.code()))
        .map(
            condition ->
                new Diagnostic(
                    condition.code(),
                    "This appeared after the plan. Plan the migration again. "
                        + condition.finding().detail()))
        .toList();
  }

  private static List<Diagnostic> withLostTimes(List<Diagnostic> notes, TimeSample sample) {
    if (sample.timesLost() == 0) {
      return notes;
    }
    List<Diagnostic> all = new ArrayList<>(notes);
    all.add(
        new Diagnostic(
            "times_lost",
            "Of %d rows that were looked at, %d would get keys without their time: the rows after them are older, so the run takes the time for a mistake."
                .formatted(sample.rows(), sample.timesLost())));
    return all;
  }

  private IdempotentResult<PlanOutcome> write(
      PlanRequest request, Source source, TableShape shape, Asked<PlanOutcome> asked) {
    Target target =
        new Target(
            UUID.randomUUID(),
            new TableName(request.schema(), request.table()),
            shape.oid(),
            shape.keyColumn(),
            shape.keyType(),
            shape.createdAt(),
            TableFinder.anchors(
                source.database(), shape.oid(), shape.keyColumn(), shape.createdAt()),
            request
                .applicationPath()
                .orElseGet(
                    () ->
                        TableFinder.ownersPath(source.database(), source.settings(), shape.oid())));
    List<Step> steps = Steps.of(target);
    Plan plan =
        new Plan(
            shape.rows(),
            shape.bytes(),
            shape.highestId(),
            shape.olderThanEpoch(),
            shape.estimate(),
            shape.preconditions(),
            withLostTimes(shape.notes(), TimeSample.of(source.database(), target)),
            steps.stream()
                .map(
                    step ->
                        new PlannedStep(
                            step.phase().wireName(),
                            step.name(),
                            step.statements(),
                            step.undoStatements()))
                .toList());
    return store.insert(request, target, plan, steps, asked);
  }
}
