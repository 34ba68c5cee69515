package dev.coatcheck.migrate.plan;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.migrate.application.Precondition;
import dev.coatcheck.migrate.inspect.Inspection;
import dev.coatcheck.migrate.inspect.Inventory;
import dev.coatcheck.migrate.inspect.TableShape;
import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.TableSpec;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.steps.Trial;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Looks at a table again before its run starts: is it still as it was planned? */
public final class PlanCheck {
  private static final Diagnostic CHANGED =
      new Diagnostic(
          "table_changed", "The table differs from the planned table. Plan the migration again.");

  /** The precondition that the shape of a row may change. */
  private static final String ROW_SHAPE = "row_shape";

  private final Inventory inventory;
  private final Source source;
  private final Target target;
  private final Plan plan;

  /**
   * Checks one plan.
   *
   * @param target with the names that the table had when it was planned
   */
  public PlanCheck(Inventory inventory, Source source, Target target, Plan plan) {
    this.inventory = inventory;
    this.source = source;
    this.target = target;
    this.plan = plan;
  }

  /**
   * What stands in the way of the start and did not when the table was planned.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the source can't be asked
   */
  public List<Diagnostic> changes(boolean keepPrimaryKey) {
    return CatalogTable.now(source.database(), target)
        .map(now -> changes(now, keepPrimaryKey))
        .orElseGet(() -> List.of(CHANGED));
  }

  private List<Diagnostic> changes(Target now, boolean keepPrimaryKey) {
    TableSpec spec =
        new TableSpec(
            now.table().schema(),
            now.table().table(),
            now.createdAt().map(Target.TimeColumn::name),
            keepPrimaryKey,
            SnowflakeLayout.DEFAULT.epochMillis());
    return switch (inventory.inspect(source, spec)) {
      case Inspection.Refused(List<Diagnostic> findings) -> findings;
      case Inspection.Sound(TableShape shape) ->
          shape.keyColumn().equals(now.keyColumn()) ? unplanned(shape) : List.of(CHANGED);
    };
  }

  /** Preconditions that apply now and were not part of the plan. */
  private List<Diagnostic> unplanned(TableShape shape) {
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

  /**
   * Migrates one row and rolls back; returns why that failed. A table whose own triggers are known
   * to fail on the new column is not tried.
   *
   * @param accepted codes of preconditions
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the source can't be asked
   */
  public Optional<Diagnostic> trial(List<String> accepted) {
    return isKnownToFail(accepted)
        ? Optional.empty()
        : CatalogTable.now(source.database(), target)
            .flatMap(now -> Trial.of(source.settings(), now))
            .map(PlanCheck::failed);
  }

  private boolean isKnownToFail(List<String> accepted) {
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
}
