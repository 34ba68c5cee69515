package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.migrate.plan.CalledStatements;
import dev.coatcheck.migrate.plan.Precondition;
import dev.coatcheck.migrate.run.OldColumns;
import dev.coatcheck.migrate.run.TableMigration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What still uses the columns of the legacy IDs of a run.
 *
 * @param columns each with its table
 * @param preconditions of contract
 * @param rowsWithoutTime rows whose key doesn't carry the time of their creation; null if the plan
 *     names no such column
 */
record OldColumnsView(
    String object,
    Instant switchedAt,
    List<String> columns,
    List<StatementView> statements,
    List<String> functions,
    List<String> rowShapes,
    List<String> dependents,
    @Nullable String notSearched,
    List<Precondition> preconditions,
    long rows,
    @Nullable Long rowsWithoutTime) {

  /** A statement and its calls since the switch. */
  record StatementView(String text, long calls) {
    static StatementView of(CalledStatements.Called called) {
      return new StatementView(called.text(), called.calls());
    }
  }

  private static @Nullable Long rowsWithoutTime(TableMigration run) {
    return run.target().createdAt().isPresent()
        ? run.progress().counts().timesLost() + run.progress().counts().beforeEpoch()
        : null;
  }

  static OldColumnsView of(TableMigration run, OldColumns found) {
    return new OldColumnsView(
        "old_columns",
        found.switchedAt(),
        Stream.concat(
                Stream.of(TableText.of(run.target().table()) + "." + run.target().keyColumn()),
                run.target().children().stream()
                    .map(child -> TableText.of(child.table()) + "." + child.column()))
            .toList(),
        found.use().statements().stream().map(StatementView::of).toList(),
        found.use().functions(),
        found.use().rowShapes(),
        found.dependents(),
        found.use().notSearched().orElse(null),
        found.use().preconditions(),
        run.progress().rowsTotal(),
        rowsWithoutTime(run));
  }
}
