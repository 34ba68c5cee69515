package dev.coatcheck.api.routes.migrations;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.migrate.plan.Estimate;
import dev.coatcheck.migrate.plan.Plan;
import dev.coatcheck.migrate.plan.Precondition;
import dev.coatcheck.migrate.run.Progress;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.SetAside;
import dev.coatcheck.postgres.session.LockWait;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A run in a list. IDs and keys are strings, because a double holds only 53 bits.
 *
 * @param type null until this instance learns of the type
 */
record TableMigrationView(
    String object,
    String id,
    String source,
    String table,
    @Nullable String type,
    String state,
    String goal,
    @Nullable String undoPhase,
    @Nullable String reason,
    @Nullable WaitView waitsFor,
    boolean keepPrimaryKey,
    @Nullable Instant switchNotBefore,
    @Nullable Instant switchNotAfter,
    @Nullable String createdAtColumn,
    String applicationSearchPath,
    ProgressView progress,
    ThrottleSettings throttle,
    List<String> accepted,
    Instant createdAt,
    @Nullable Instant startedAt,
    @Nullable Instant endedAt) {

  /** A statement on the source that waits for other sessions. */
  record WaitView(String statement, String event, List<LockWait.BlockingSession> sessions) {
    static @Nullable WaitView of(TableMigration run) {
      return run.status()
          .waitsFor()
          .map(wait -> new WaitView(wait.operation(), wait.event(), wait.sessions()))
          .orElse(null);
    }
  }

  record ProgressView(
      long rowsDone,
      long rowsTotal,
      long rowsSetAside,
      long timesLost,
      long beforeEpoch,
      @Nullable Double rowsPerSecond,
      @Nullable Long secondsLeft) {
    static ProgressView of(Progress progress) {
      OptionalDouble rate = progress.rowsPerSecond();
      OptionalLong left = progress.secondsLeft();
      return new ProgressView(
          progress.rowsDone(),
          progress.rowsTotal(),
          progress.counts().setAside(),
          progress.counts().timesLost(),
          progress.counts().beforeEpoch(),
          rate.isPresent() ? Math.round(rate.getAsDouble() * 10) / 10.0 : null,
          left.isPresent() ? left.getAsLong() : null);
    }
  }

  record PlanView(
      long rows,
      long bytes,
      String highestId,
      long olderThanEpoch,
      List<ChildView> children,
      Estimate estimate,
      long switchDiskBytes,
      List<Precondition> preconditions,
      List<Diagnostic> notes,
      List<Plan.PlannedStep> steps) {
    static PlanView of(TableMigration run) {
      Plan plan = run.plan();
      return new PlanView(
          plan.rows(),
          plan.bytes(),
          Long.toString(plan.highestId()),
          plan.olderThanEpoch(),
          run.target().children().stream().map(ChildView::of).toList(),
          plan.estimate(),
          Estimate.switchDiskBytes(plan.rows()),
          plan.preconditions(),
          plan.notes(),
          plan.steps());
    }
  }

  /** A column that refers to the legacy IDs, and its twin. */
  record ChildView(String table, String column, String twin) {
    static ChildView of(Child child) {
      return new ChildView(TableText.of(child.table()), child.column(), child.reference());
    }
  }

  record SetAsideView(String legacyId, String key, String cause, String error) {
    static SetAsideView of(SetAside row) {
      return new SetAsideView(
          Long.toString(row.legacy()),
          Long.toString(row.key()),
          row.cause().wireName(),
          row.error());
    }
  }

  /**
   * @param report of the last verification
   * @param plan only if requested
   */
  record Whole(
      @JsonUnwrapped TableMigrationView run,
      List<TableMigration.StepStatus> steps,
      List<SetAsideView> setAside,
      @Nullable JsonNode report,
      @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable PlanView plan) {}

  static TableMigrationView of(TableMigration run, Optional<String> type) {
    return new TableMigrationView(
        "table_migration",
        Long.toString(run.id()),
        run.source(),
        TableText.of(run.target().table()),
        type.orElse(null),
        run.status().state().wireName(),
        run.status().goal().wireName(),
        run.status().undoPhase().map(Phase::wireName).orElse(null),
        run.status().reason().orElse(null),
        WaitView.of(run),
        run.keepPrimaryKey(),
        run.switchWindow().notBefore().orElse(null),
        run.switchWindow().notAfter().orElse(null),
        run.target().createdAt().map(Target.TimeColumn::name).orElse(null),
        run.target().applicationPath().text(),
        ProgressView.of(run.progress()),
        run.throttleSettings(),
        run.accepted(),
        run.times().createdAt(),
        run.times().startedAt().orElse(null),
        run.times().endedAt().orElse(null));
  }

  static @Nullable JsonNode report(TableMigration run) {
    return run.report() == null ? null : Json.MAPPER.readTree(run.report());
  }
}
