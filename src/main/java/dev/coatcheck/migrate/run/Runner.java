package dev.coatcheck.migrate.run;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.migrate.journal.Goal;
import dev.coatcheck.migrate.journal.Journal;
import dev.coatcheck.migrate.journal.RunState;
import dev.coatcheck.migrate.journal.StepState;
import dev.coatcheck.migrate.journal.TableMigration;
import dev.coatcheck.migrate.journal.TableMigration.StepStatus;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.run.Heartbeat.Stopped;
import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.FenceLost;
import dev.coatcheck.migrate.source.ObjectsGone;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.steps.OwnObjectsTable;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.migrate.steps.Step;
import dev.coatcheck.migrate.steps.StepOutcome;
import dev.coatcheck.migrate.steps.Steps;
import dev.coatcheck.postgres.connection.RootCause;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.List;
import java.util.Optional;

/**
 * Carries one run on, step by step, forward or back. Every step can be seen in the source, so a
 * runner looks first and repeats nothing that an earlier runner has done.
 */
final class Runner {
  private static final long RECONNECT_MILLIS = 1_000;

  private final Journal journal;
  private final GatewayMappings gateway;
  private final Source source;
  private final Heartbeat heartbeat;

  /** With the names that the table has now. */
  private TableMigration run;

  private List<Step> steps;

  Runner(
      Journal journal,
      GatewayMappings gateway,
      Source source,
      TableMigration run,
      Heartbeat heartbeat) {
    this.journal = journal;
    this.gateway = gateway;
    this.source = source;
    this.run = run;
    this.heartbeat = heartbeat;
    this.steps = Steps.of(run.target());
  }

  /** Until the goal is reached, or the run is not to go on here. */
  void run() {
    while (true) {
      try (SourceSession session =
          SourceSession.open(
              source.settings(),
              source.patience(),
              run.target(),
              heartbeat.claim().fence(),
              heartbeat::waitsFor)) {
        heartbeat.because(Optional.empty());
        boolean _ = lookUpNames(session);
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
        gateway.observer().observe(new Event.BackgroundFailed("table-migration-run", refused));
        fail(RootCause.words(refused));
        return;
      }
    }
  }

  /**
   * Before each step, because a table and its columns can be renamed at any time.
   *
   * @return false if the table, or its key column, is gone
   */
  private boolean lookUpNames(SourceSession session) {
    Optional<Target> now = CatalogTable.now(session.session(), run.target());
    if (now.isPresent() && !now.get().equals(run.target())) {
      run = run.at(now.get());
      steps = Steps.of(now.get());
    }
    return now.isPresent();
  }

  /** A step that failed because of an old name is begun again with the new name. */
  private boolean isRenamed() {
    try {
      return CatalogTable.now(source.database(), run.target())
          .filter(now -> !now.equals(run.target()))
          .isPresent();
    } catch (DatabaseUnavailable gone) {
      return false;
    }
  }

  private void carryOn(SourceSession session) {
    OwnObjectsTable objects = new OwnObjectsTable(session, run.target());
    try {
      switch (run.status().goal()) {
        case FORWARD -> {
          objects.require(journal.extent(run));
          forward(session);
        }
        case VERIFY -> {
          if (journal.extent(run) == OwnObjectsTable.Extent.ON_TABLE) {
            verify(session);
          } else {
            end(RunState.PAUSED, "verified", "The table has no keys yet that could be verified.");
          }
        }
        case UNDO -> {
          objects.mend(journal.extent(run));
          undo(session);
        }
      }
    } catch (Stopped | DatabaseUnavailable known) {
      throw known;
    } catch (RuntimeException unknown) {
      if (run.status().goal() != Goal.UNDO) {
        // Says more than "relation does not exist", if that is what it means.
        objects.require(journal.extent(run));
      }
      throw unknown;
    }
  }

  private boolean waitForSource(DatabaseUnavailable gone) {
    String why = "the source can't be reached, trying again: " + RootCause.words(gone);
    if (heartbeat.because(Optional.of(why))) {
      journal.event(run, "waiting", why);
    }
    try {
      heartbeat.pause(RECONNECT_MILLIS);
      return true;
    } catch (Stopped over) {
      return false;
    }
  }

  private void forward(SourceSession session) {
    List<StepStatus> statuses = journal.steps(run.id());
    for (int i = 0; i < steps.size(); i++) {
      if (!statuses.get(i).state().isApplied()) {
        heartbeat.requireMine();
        if (!lookUpNames(session)) {
          fail("The table, or its key column, is gone. Undo removes what is left of the run.");
          return;
        }
        if (!apply(session, steps.get(i), "step_applied")) {
          return;
        }
      }
    }
    end(RunState.DONE, "done", "All phases are done.");
  }

  private void verify(SourceSession session) {
    if (apply(session, steps.getLast(), "verified")) {
      boolean isThrough =
          journal.steps(run.id()).stream().allMatch(status -> status.state().isApplied());
      end(isThrough ? RunState.DONE : RunState.PAUSED, "verified", "Source and mappings agree.");
    }
  }

  private boolean apply(SourceSession session, Step step, String kind) {
    journal.event(run, "step_started", name(step));
    return settle(step, stepRunner(session).apply(step), StepState.VERIFIED, kind);
  }

  private void undo(SourceSession session) {
    Phase last = run.status().undoPhase().orElse(Phase.EXPAND);
    List<StepStatus> statuses = journal.steps(run.id());
    for (int i = steps.size() - 1; i >= 0 && steps.get(i).phase().compareTo(last) >= 0; i--) {
      boolean hasTable = lookUpNames(session);
      Step step = steps.get(i);
      StepState state = statuses.get(i).state();
      StepRunner runner = stepRunner(session);
      if (state.isBegun() || runner.isThere(step)) {
        heartbeat.requireMine();
        if (!settle(step, runner.undo(step, state, hasTable), StepState.UNDONE, "step_undone")) {
          return;
        }
      }
    }
    if (last == Phase.EXPAND) {
      journal.undone(run);
    } else {
      end(RunState.PAUSED, "undone", "Everything from " + last.wireName() + " on is undone.");
    }
  }

  private StepRunner stepRunner(SourceSession session) {
    return new StepRunner(journal, gateway, source, session, run, heartbeat);
  }

  /** Records the outcome of a step; false if the run failed with it. */
  private boolean settle(Step step, StepOutcome outcome, StepState done, String kind) {
    return switch (outcome) {
      case StepOutcome.Done _ -> {
        journal.step(run, step, done, Optional.empty());
        journal.event(run, kind, name(step));
        yield true;
      }
      case StepOutcome.Failed(String reason) -> {
        journal.step(run, step, StepState.FAILED, Optional.of(reason));
        fail(name(step) + ": " + reason);
        yield false;
      }
    };
  }

  private static String name(Step step) {
    return step.phase().wireName() + " " + step.name();
  }

  private void end(RunState state, String kind, String detail) {
    heartbeat.beat();
    journal.settle(run, state, kind, detail);
  }

  private void fail(String reason) {
    end(RunState.FAILED, "failed", reason);
  }
}
