package dev.coatcheck.bench.backfill;

import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.plan.PlanRequest;
import dev.coatcheck.migrate.plan.Precondition;
import dev.coatcheck.migrate.run.ActionOutcome;
import dev.coatcheck.migrate.run.ActionRequest;
import dev.coatcheck.migrate.run.PlanOutcome;
import dev.coatcheck.migrate.run.RunEvent;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.migrate.source.TableSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Table migrations, one after another, and what their events say. */
record BackfillRuns(TableMigrations migrations) {
  static final int LOOK_MILLIS = 50;
  static final String ACTOR = "bench";

  /** How long a step took. */
  static double seconds(List<RunEvent> events, String step) {
    return Duration.between(at(events, "step_started", step), at(events, "step_applied", step))
            .toNanos()
        / 1e9;
  }

  /** Starts a migration that accepts all preconditions of its plan. */
  TableMigration start(String source, String table, Type type) {
    IdempotentResult<PlanOutcome> result =
        migrations.plan(
            new PlanRequest(
                source,
                new TableSpec("public", table, Optional.of("created_at"), true),
                type,
                Optional.empty()),
            ActionRequest.by(ACTOR));
    if (!(result
        instanceof
        IdempotentResult.Unkeyed<PlanOutcome>(PlanOutcome.Planned(TableMigration.Whole whole)))) {
      throw new IllegalStateException("no plan: " + result);
    }
    TableMigration run = whole.run();
    act(
        migrations.start(
            run.id(),
            run.plan().preconditions().stream().map(Precondition::code).toList(),
            ActionRequest.by(ACTOR)));
    return run;
  }

  static void act(IdempotentResult<ActionOutcome> result) {
    if (!(result instanceof IdempotentResult.Unkeyed<ActionOutcome>(ActionOutcome.Done _))) {
      throw new IllegalStateException("refused: " + result);
    }
  }

  /** Waits until a run has come to a state. */
  void await(TableMigration run, RunState state) throws InterruptedException {
    while (requireNotFailed(run).state() != state) {
      Thread.sleep(LOOK_MILLIS);
    }
  }

  TableMigration.Status requireNotFailed(TableMigration run) {
    TableMigration.Status status = migrations.journal().find(run.id()).orElseThrow().status();
    if (status.state() == RunState.FAILED) {
      throw new IllegalStateException(status.reason().orElse(""));
    }
    return status;
  }

  static boolean is(RunEvent event, String kind, String step) {
    return event.kind().equals(kind) && event.detail().equals(step);
  }

  static Instant at(List<RunEvent> events, String kind, String step) {
    return events.stream()
        .filter(event -> is(event, kind, step))
        .map(RunEvent::at)
        .findFirst()
        .orElseThrow();
  }
}
