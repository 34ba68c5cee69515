package dev.coatcheck.migrate.run;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.migrate.backfill.Archive;
import dev.coatcheck.migrate.run.Heartbeat.Stopped;
import dev.coatcheck.migrate.run.LeaseStore.Claim;
import dev.coatcheck.migrate.source.FenceLost;
import dev.coatcheck.migrate.source.ObjectsGone;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.TableFinder;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.steps.Ddl;
import dev.coatcheck.migrate.steps.Outbox;
import dev.coatcheck.migrate.steps.OwnObjects;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.migrate.steps.Step;
import dev.coatcheck.migrate.steps.Steps;
import dev.coatcheck.postgres.session.LockWait.BlockingSession;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Carries one run on from wherever it is: forward step by step, or back. Every step can be seen in
 * the source, so a runner begins by looking and repeats nothing that was done.
 */
final class Runner {
  private static final long RECONNECT_MILLIS = 1_000;

  /** Between two looks at what is left in the outbox. */
  private static final long DRAIN_MILLIS = 500;

  private final Workshop workshop;
  private final Claim claim;
  private final Source source;
  private final Heartbeat heartbeat;

  /** With the names that the table has now. */
  private TableMigration run;

  private List<Step> steps;
  private boolean isTableGone;
  private boolean isDraining;

  /** What a step came to. */
  private sealed interface Result {
    record Done() implements Result {}

    record Failed(String reason) implements Result {}
  }

  Runner(Workshop workshop, Claim claim, TableMigration run, Source source, Heartbeat heartbeat) {
    this.workshop = workshop;
    this.claim = claim;
    this.run = run;
    this.source = source;
    this.heartbeat = heartbeat;
    this.steps = Steps.of(run.target());
  }

  /** Until the goal is reached, or the run is not to go on here. */
  void run() {
    while (true) {
      try (SourceSession session =
          SourceSession.open(source, target(), claim.fence(), heartbeat::waitsFor)) {
        heartbeat.because(Optional.empty());
        lookUpNames(session);
        carryOn(session);
        return;
      } catch (FenceLost | Stopped over) {
        return;
      } catch (ObjectsGone gone) {
        fail(String.valueOf(gone.getMessage()));
        return;
      } catch (DatabaseUnavailable gone) {
        if (!waitForSource(gone)) {
          return;
        }
      } catch (RuntimeException refused) {
        if (isRenamed()) {
          continue;
        }
        workshop.observer().observe(new Event.BackgroundFailed("table-migration-run", refused));
        fail(rootMessage(refused));
        return;
      }
    }
  }

  /** Before each step: a table and its columns can be renamed at any time. */
  private void lookUpNames(SourceSession session) {
    Optional<Target> now = TableFinder.now(session.session(), target());
    isTableGone = now.isEmpty();
    now.ifPresent(this::rename);
  }

  private void rename(Target now) {
    if (!now.equals(target())) {
      run = run.at(now);
      steps = Steps.of(now);
    }
  }

  /** What failed because of an old name is begun again with the new one. */
  private boolean isRenamed() {
    try {
      return TableFinder.now(source.database(), target())
          .filter(now -> !now.equals(target()))
          .isPresent();
    } catch (DatabaseUnavailable gone) {
      return false;
    }
  }

  private void carryOn(SourceSession session) {
    OwnObjects objects = new OwnObjects(session, target());
    try {
      switch (run.status().goal()) {
        case FORWARD -> {
          objects.require(extent());
          forward(session);
        }
        case VERIFY -> {
          if (extent() == OwnObjects.Extent.ON_TABLE) {
            verify(session);
          } else {
            end(RunState.PAUSED, "verified", "The table has no keys yet that could be verified.");
          }
        }
        case UNDO -> {
          objects.mend(extent());
          undo(session);
        }
      }
    } catch (Stopped | DatabaseUnavailable known) {
      throw known;
    } catch (RuntimeException unknown) {
      if (run.status().goal() != Goal.UNDO) {
        // Says more than "relation does not exist", if that is what it means.
        objects.require(extent());
      }
      throw unknown;
    }
  }

  /** What has to be there by what earlier runners wrote down. */
  private OwnObjects.Extent extent() {
    List<TableMigration.StepStatus> statuses = workshop.steps().steps(run.id());
    if (isApplied(statuses, Step.DUAL_WRITE)) {
      return OwnObjects.Extent.ON_TABLE;
    }
    return isApplied(statuses, Step.PREPARE) ? OwnObjects.Extent.PREPARED : OwnObjects.Extent.NONE;
  }

  private static boolean isApplied(List<TableMigration.StepStatus> statuses, String name) {
    return statuses.stream()
        .anyMatch(
            status ->
                status.phase() == Phase.EXPAND
                    && status.name().equals(name)
                    && status.state().isApplied());
  }

  private boolean waitForSource(DatabaseUnavailable gone) {
    String why = "the source can't be reached, trying again: " + rootMessage(gone);
    if (heartbeat.because(Optional.of(why))) {
      workshop.event(run, "waiting", why);
    }
    try {
      heartbeat.pause(RECONNECT_MILLIS);
      return true;
    } catch (Stopped over) {
      return false;
    }
  }

  private void forward(SourceSession session) {
    List<TableMigration.StepStatus> statuses = workshop.steps().steps(run.id());
    for (int i = 0; i < steps.size(); i++) {
      if (!statuses.get(i).state().isApplied()) {
        heartbeat.requireMine();
        lookUpNames(session);
        if (isTableGone) {
          fail("The table, or its key column, is gone. Undo removes what is left of the run.");
          return;
        }
        Step step = steps.get(i);
        if (!settle(step, apply(session, step), StepState.VERIFIED, "step_applied")) {
          return;
        }
      }
    }
    end(RunState.DONE, "done", "All phases are done.");
  }

  private void verify(SourceSession session) {
    Step step = steps.getLast();
    if (settle(step, apply(session, step), StepState.VERIFIED, "verified")) {
      List<TableMigration.StepStatus> statuses = workshop.steps().steps(run.id());
      boolean isThrough = statuses.stream().allMatch(status -> status.state().isApplied());
      end(isThrough ? RunState.DONE : RunState.PAUSED, "verified", "Source and mappings agree.");
    }
  }

  private void undo(SourceSession session) {
    Phase last = run.status().undoPhase().orElse(Phase.EXPAND);
    List<TableMigration.StepStatus> statuses = workshop.steps().steps(run.id());
    for (int i = steps.size() - 1; i >= 0; i--) {
      lookUpNames(session);
      Step step = steps.get(i);
      StepState state = statuses.get(i).state();
      if (step.phase().compareTo(last) >= 0
          && ((state != StepState.PENDING && state != StepState.UNDONE)
              || isThere(session, step))) {
        heartbeat.requireMine();
        if (!settle(step, undo(session, step, state), StepState.UNDONE, "step_undone")) {
          return;
        }
      }
    }
    if (last == Phase.EXPAND) {
      workshop.undone(run);
    } else {
      end(RunState.PAUSED, "undone", "Everything from " + last.wireName() + " on is undone.");
    }
  }

  /** A runner that was killed may have applied a step without having written that down. */
  private boolean isThere(SourceSession session, Step step) {
    Ddl ddl = new Ddl(session, target(), heartbeat::pause);
    return switch (step) {
      case Step.Ddl change -> ddl.isApplied(change);
      case Step.Index index -> ddl.isThere(index);
      case Step.Filled filled -> ddl.isThere(filled);
      case Step.Fill _, Step.Archive _, Step.Verify _ -> false;
    };
  }

  private Result apply(SourceSession session, Step step) {
    workshop.event(run, "step_started", step.phase().wireName() + " " + step.name());
    Ddl ddl = new Ddl(session, target(), heartbeat::pause);
    return switch (step) {
      case Step.Ddl change ->
          ddl.isApplied(change) ? new Result.Done() : result(ddl.apply(change), change.name());
      case Step.Index index -> {
        ddl.build(index);
        yield ddl.isValid(index)
            ? new Result.Done()
            : new Result.Failed("the index " + index.index() + " is not valid");
      }
      case Step.Filled filled ->
          result(ddl.apply(filled, () -> fillLoop(session).run()), filled.name());
      case Step.Fill _ -> {
        session.fence(claim.fence());
        yield fillLoop(session).run().<Result>map(Result.Failed::new).orElseGet(Result.Done::new);
      }
      case Step.Archive _ -> new Result.Done();
      case Step.Verify _ ->
          workshop
              .verify(session, run, source, heartbeat)
              .<Result>map(Result.Failed::new)
              .orElseGet(Result.Done::new);
    };
  }

  private FillLoop fillLoop(SourceSession session) {
    return new FillLoop(workshop, session, run, source, claim, heartbeat);
  }

  private Result undo(SourceSession session, Step step, StepState state) {
    Ddl ddl = new Ddl(session, target(), heartbeat::pause);
    if (step.name().equals(Step.PREPARE)) {
      drain();
    } else if (!new OwnObjects(session, target()).hasTable()) {
      return new Result.Done();
    }
    return switch (step) {
      // What is written down needs no look: the part that would be looked for may be gone.
      case Step.Ddl change when state.isApplied() ->
          result(ddl.apply(reversed(change)), change.name());
      case Step.Ddl change -> result(ddl.undo(change), change.name());
      case Step.Index index -> {
        ddl.drop(index);
        yield new Result.Done();
      }
      case Step.Filled filled -> result(ddl.undo(filled), filled.name());
      case Step.Archive archive -> isTableGone ? new Result.Done() : archive(session, ddl, archive);
      case Step.Fill _, Step.Verify _ -> new Result.Done();
    };
  }

  private static Step.Ddl reversed(Step.Ddl step) {
    return new Step.Ddl(
        step.phase(), step.name(), step.undoStatements(), step.statements(), step.check());
  }

  /** The triggers are gone, so no entry comes; those that wait are brought, however many. */
  private void drain() {
    Outbox outbox = workshop.outbox(run, source);
    for (long left = outbox.lag().entries(); left > 0; left = outbox.lag().entries()) {
      String why = left + " entries of the outbox are left to be brought to the gateway";
      if (heartbeat.because(Optional.of(why)) && !isDraining) {
        isDraining = true;
        workshop.event(run, "draining", why);
      }
      long endNano = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DRAIN_MILLIS);
      while (System.nanoTime() - endNano < 0) {
        heartbeat.requireMine();
        if (!drain(outbox)) {
          heartbeat.pause(DRAIN_MILLIS / 2);
        }
      }
    }
    heartbeat.because(Optional.empty());
  }

  /** False if nothing could be brought now: others work on the rest, or hold what it needs. */
  private static boolean drain(Outbox outbox) {
    try {
      return outbox.drain().entries() > 0;
    } catch (DatabaseUnavailable reportedAlready) {
      return false;
    }
  }

  private Result archive(SourceSession session, Ddl ddl, Step.Archive step) {
    // Where the function is gone its trigger is gone too, and no row comes with a key.
    Result begun =
        new OwnObjects(session, target()).canArchiveNewRows()
            ? result(ddl.begin(step), step.name())
            : new Result.Done();
    if (begun instanceof Result.Done && !new Archive(session, target()).run(heartbeat::isMine)) {
      throw new Stopped();
    }
    return begun;
  }

  private static Result result(Ddl.Outcome outcome, String name) {
    return switch (outcome) {
      case Ddl.Outcome.Done _ -> new Result.Done();
      case Ddl.Outcome.Blocked(int tries, List<BlockingSession> blockers) ->
          new Result.Failed(
              "%s did not get its lock in %d tries. Held by: %s. Retry when these sessions end."
                  .formatted(
                      name,
                      tries,
                      blockers.stream()
                          .map(BlockingSession::text)
                          .collect(Collectors.joining("; "))));
      case Ddl.Outcome.Refused(String reason) -> new Result.Failed(reason);
    };
  }

  /** Records what a step came to; false if the run failed with it. */
  private boolean settle(Step step, Result result, StepState done, String kind) {
    String name = step.phase().wireName() + " " + step.name();
    return switch (result) {
      case Result.Done _ -> {
        workshop.steps().step(run.id(), step, done, Optional.empty());
        workshop.event(run, kind, name);
        yield true;
      }
      case Result.Failed(String reason) -> {
        workshop.steps().step(run.id(), step, StepState.FAILED, Optional.of(reason));
        fail(name + ": " + reason);
        yield false;
      }
    };
  }

  private void end(RunState state, String kind, String detail) {
    heartbeat.beat();
    workshop.settle(run, state, kind, detail);
  }

  private void fail(String reason) {
    heartbeat.beat();
    workshop.settle(run, RunState.FAILED, "failed", reason);
  }

  private Target target() {
    return run.target();
  }

  /** The words of Postgres, in one line. */
  static String rootMessage(Throwable thrown) {
    Throwable root = thrown;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return String.join(" ", String.valueOf(root.getMessage()).split("\\s*\\R\\s*"));
  }
}
