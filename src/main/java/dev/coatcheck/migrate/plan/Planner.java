package dev.coatcheck.migrate.plan;

import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.plan.Plan.PlannedStep;
import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.ChildTable;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.table.Step;
import dev.coatcheck.migrate.table.Steps;
import dev.coatcheck.migrate.table.TimeSampleTable;
import dev.coatcheck.migrate.table.TimeSampleTable.TimeSample;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Looks at a table and says what a run would do to it, or why it can't be migrated. */
public final class Planner {
  private static final Diagnostic TYPE_KEYS =
      new Diagnostic(
          "type_unsuitable",
          "The type must generate Snowflake keys of the default layout and seal none. Create such a"
              + " type for this table.");

  private final TableSurvey survey;

  public Planner(TableSurvey survey) {
    this.survey = survey;
  }

  /** Whether rows of a table can be of the type. */
  public static boolean suits(Type type) {
    return type.generation().equals(KeyGeneration.usual(KeyKind.BIGINT))
        && type.sealing().isEmpty();
  }

  /** Reads from the source, and changes nothing there. */
  public Proposal propose(Source source, PlanRequest request) {
    Type type = request.type();
    if (!suits(type)) {
      return new Proposal.Refused(List.of(TYPE_KEYS));
    }
    return switch (survey.inspect(source, request.table())) {
      case TableSurvey.Outcome.Refused(List<Diagnostic> diagnostics) ->
          new Proposal.Refused(diagnostics);
      case TableSurvey.Outcome.Sound(TableShape shape) -> proposal(request, source, shape);
    };
  }

  private static Proposal proposal(PlanRequest request, Source source, TableShape shape) {
    Target target = target(request, source, shape);
    boolean keepsPrimaryKey = request.table().keepPrimaryKey();
    List<Step> steps =
        Steps.of(target).stream()
            .filter(step -> step.phase().isUsual() || !keepsPrimaryKey)
            .toList();
    Estimate estimate = Estimate.of(shape.size(), source.isGateway());
    TimeSample sample = TimeSampleTable.of(source.database(), target);
    Plan plan =
        new Plan(
            shape.size().rows(),
            shape.size().bytes(),
            shape.highestId(),
            shape.size().olderThanEpoch(),
            keepsPrimaryKey ? estimate.keepingPrimaryKey() : estimate,
            shape.preconditions(),
            withLostTimes(shape.notes(), sample),
            steps.stream().map(PlannedStep::of).toList());
    return new Proposal.Ready(target, plan, steps);
  }

  private static Target target(PlanRequest request, Source source, TableShape shape) {
    Target.Anchors anchors =
        CatalogTable.anchors(source.database(), shape.oid(), shape.keyColumn(), shape.createdAt());
    return new Target(
        UUID.randomUUID(),
        new TableName(request.table().schema(), request.table().table()),
        shape.oid(),
        shape.keyColumn(),
        shape.keyType(),
        shape.createdAt(),
        anchors,
        request
            .applicationPath()
            .orElseGet(
                () -> CatalogTable.ownersPath(source.database(), source.settings(), shape.oid())),
        ChildTable.of(source.database(), shape.oid(), anchors.keyAttnum()));
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
}
