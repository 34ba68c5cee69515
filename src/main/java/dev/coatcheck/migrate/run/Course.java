package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.journal.Journal;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.run.Heartbeat.Stopped;
import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.ChildTable;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.state.Goal;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.StepState;
import dev.coatcheck.migrate.state.StepStates;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.OwnObjectsTable;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.migrate.steps.Step;
import dev.coatcheck.migrate.steps.StepOutcome;
import dev.coatcheck.migrate.steps.Steps;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The way of a run to its goal, step by step, forward or back, on one session. Every step can be
 * seen in the source, so nothing is repeated that an earlier runner has done.
 */
final class Course {
  private static final Duration VERIFIED_MAX = Duration.ofHours(1);

  private final Journal journal;
  private final GatewayMappings gateway;
  private final Source source;
  private final Heartbeat heartbeat;
  private final RunLog log;

  /** With the names that the table has now. */
  private TableMigration run;

  private List<Step> steps;

  Course(
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
    this.log = new RunLog(journal, heartbeat);
    this.steps = Steps.of(run.target());
  }

  /** Until the goal is reached, or a step has failed. */
  void go(SourceSession session) {
    if (isThere(session, Step.DROP_COLUMNS)) {
      contracted();
      return;
    }
    boolean _ = lookUpNames(session);
    OwnObjectsTable objects = new OwnObjectsTable(session, run.target());
    try {
      switch (run.status().goal()) {
        case FORWARD -> {
          objects.require(journal.extent(run));
          if (apply(session, step -> step.phase().isUsual())) {
            end(RunState.DONE, "done", "All phases up to the switch are done.");
          }
        }
        case SWITCH -> {
          objects.require(journal.extent(run));
          new SwitchCourse(this, journal, source, heartbeat, run).go(session);
        }
        case CONTRACT -> {
          objects.require(journal.extent(run));
          if (isVerified(session) && apply(session, step -> step.phase() == Phase.CONTRACT)) {
            contracted();
          }
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

  /** Whether a step may have failed because of an old name; then it is begun again. */
  boolean isOvertaken() {
    try {
      Optional<Target> now = CatalogTable.now(source.database(), run.target());
      return now.isPresent() && !now.get().equals(run.target());
    } catch (DatabaseUnavailable gone) {
      return false;
    }
  }

  /**
   * Before each step, because a table and its columns can be renamed at any time.
   *
   * @return false if the table, or its key column, is gone
   */
  private boolean lookUpNames(SourceSession session) {
    Target before = run.target();
    Optional<Target> now = CatalogTable.now(session.session(), before);
    // Children may outlive the table, and have to be freed of our triggers then.
    Target known =
        now.orElseGet(() -> before.with(ChildTable.now(session.session(), before.children())));
    if (!known.equals(run.target())) {
      run = run.at(known);
      steps = Steps.of(known);
    }
    return now.isPresent();
  }

  /** Applies what is left of some steps; false if the run failed with one of them. */
  boolean apply(SourceSession session, Predicate<Step> which) {
    StepStates states = journal.states(run.id());
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      if (which.test(step) && stepRunner(session).isLeft(step, states.of(step))) {
        heartbeat.requireMine();
        int before = steps.size();
        if (!lookUpNames(session)) {
          fail("The table, or its key column, is gone. Undo removes what is left of the run.");
          return false;
        }
        if (steps.size() != before) {
          // A child is gone, and its steps with it.
          return apply(session, which);
        }
        boolean isAsPlanned = !step.phase().bindsChildren() || hasPlannedChildren(session);
        if (!isAsPlanned || !apply(session, steps.get(i), "step_applied")) {
          return false;
        }
      }
    }
    return true;
  }

  private boolean hasPlannedChildren(SourceSession session) {
    Optional<String> difference = ChildrenCheck.of(journal, session, run);
    difference.ifPresent(this::fail);
    return difference.isEmpty();
  }

  private void verify(SourceSession session) {
    if (apply(session, new Step.Verify(), "verified")) {
      StepStates states = journal.states(run.id());
      boolean isThrough =
          steps.stream()
              .filter(step -> step.phase().isUsual())
              .allMatch(step -> states.of(step).isApplied());
      end(isThrough ? RunState.DONE : RunState.PAUSED, "verified", "Source and mappings agree.");
    }
  }

  /** Whether source and mappings agreed within the last hour, or do now. */
  boolean isVerified(SourceSession session) {
    return journal.states(run.id()).isVerifiedSince(Instant.now().minus(VERIFIED_MAX))
        || apply(session, new Step.Verify(), "verified");
  }

  /** Whether a step is applied: the source alone knows. */
  boolean isThere(SourceSession session, String name) {
    return steps.stream()
        .filter(step -> step.name().equals(name))
        .anyMatch(stepRunner(session)::isThere);
  }

  /** Also if a runner died before it could write down that the columns are gone. */
  private void contracted() {
    steps.stream()
        .filter(step -> step.name().equals(Step.DROP_COLUMNS))
        .forEach(step -> journal.step(run, step, StepState.VERIFIED, Optional.empty()));
    end(
        RunState.CONTRACTED,
        "contracted",
        "The legacy IDs have left the table; the archive keeps them with their keys.");
  }

  private boolean apply(SourceSession session, Step step, String kind) {
    log.begun(run, step);
    return log.settle(run, step, stepRunner(session).apply(step), StepState.VERIFIED, kind);
  }

  private void undo(SourceSession session) {
    Phase last = run.status().undoPhase().orElse(Phase.EXPAND);
    StepStates states = journal.states(run.id());
    for (int i = steps.size() - 1; i >= 0 && steps.get(i).phase().compareTo(last) >= 0; i--) {
      int before = steps.size();
      boolean hasTable = lookUpNames(session);
      if (steps.size() != before) {
        // A child is gone, and its steps with it.
        undo(session);
        return;
      }
      Step step = steps.get(i);
      StepState state = states.of(step);
      StepRunner runner = stepRunner(session);
      if (state.isBegun() || runner.isThere(step)) {
        heartbeat.requireMine();
        StepOutcome outcome = runner.undo(step, state, hasTable);
        if (!log.settle(run, step, outcome, StepState.UNDONE, "step_undone")) {
          return;
        }
      }
    }
    String undone = "Everything from " + last.wireName() + " on is undone.";
    if (last == Phase.EXPAND) {
      journal.undone(run);
    } else {
      end(last.isUsual() ? RunState.PAUSED : RunState.DONE, "undone", undone);
    }
  }

  private StepRunner stepRunner(SourceSession session) {
    return new StepRunner(journal, gateway, source, session, run, heartbeat);
  }

  void end(RunState state, String kind, String detail) {
    log.end(run, state, kind, detail);
  }

  void fail(String reason) {
    log.fail(run, reason);
  }
}
