package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.run.Heartbeat.Stopped;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.table.LockTime;
import dev.coatcheck.migrate.table.OwnObjectsTable;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.Step;
import dev.coatcheck.migrate.table.StepOutcome;
import dev.coatcheck.migrate.table.Steps;
import dev.coatcheck.migrate.verify.Report;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Executes a run up to its goal, step by step, forward or back, on one session. The source shows
 * which steps are applied, so nothing is repeated that an earlier runner has done.
 */
final class RunExecutor {
  private static final Duration VERIFIED_MAX = Duration.ofHours(1);

  private static final String TO_REPEAT = "contract was refused after the last verification";

  private final JournalTable journal;
  private final GatewayMappings gateway;
  private final Source source;
  private final Heartbeat heartbeat;
  private final CurrentRun current;

  RunExecutor(
      JournalTable journal,
      GatewayMappings gateway,
      Source source,
      TableMigration run,
      Heartbeat heartbeat) {
    this.journal = journal;
    this.gateway = gateway;
    this.source = source;
    this.current = new CurrentRun(run);
    this.heartbeat = heartbeat;
  }

  /** Until the goal is reached, or a step has failed. */
  void go(SourceSession session) {
    if (isContracted() || isThere(session, Step.DROP_COLUMNS)) {
      contracted(session);
      return;
    }
    boolean _ = current.lookUp(session);
    OwnObjectsTable objects = new OwnObjectsTable(session, current.run().target());
    try {
      switch (current.run().status().goal()) {
        case FORWARD -> {
          objects.require(journal.extent(current.run()));
          if (apply(session, step -> step.phase().isUsual())) {
            end(RunState.DONE, "done", "All phases up to the switch are done.");
          }
        }
        case SWITCH -> {
          objects.require(journal.extent(current.run()));
          way().go(session);
        }
        case CONTRACT -> {
          objects.require(journal.extent(current.run()));
          way().contract(session);
        }
        case VERIFY -> {
          if (journal.extent(current.run()) == OwnObjectsTable.Extent.ON_TABLE) {
            verify(session);
          } else {
            end(RunState.PAUSED, "verified", "The table has no keys yet that could be verified.");
          }
        }
        case UNDO -> {
          objects.mend(journal.extent(current.run()));
          undo(session);
        }
      }
    } catch (Stopped | DatabaseUnavailable known) {
      throw known;
    } catch (RuntimeException unknown) {
      if (current.run().status().goal() != Goal.UNDO) {
        // Says more than "relation does not exist", if that is what it means.
        objects.require(journal.extent(current.run()));
      }
      throw unknown;
    }
  }

  boolean isUndoing() {
    return current.run().status().goal() == Goal.UNDO;
  }

  /** Whether a step may have failed because of an old name; then it is begun again. */
  boolean isOvertaken() {
    return current.isOvertaken(source.database());
  }

  /** Applies what is left of some steps; false if the run failed with one of them. */
  boolean apply(SourceSession session, Predicate<Step> which) {
    return apply(session, which, _ -> true);
  }

  /**
   * Applies what is left of some steps.
   *
   * @param mayBegin asked directly before each step: what comes before it may take hours
   * @return false if the run failed with one of them, or may not begin it
   */
  boolean apply(SourceSession session, Predicate<Step> which, Predicate<Step> mayBegin) {
    StepStates states = journal.states(current.run().id());
    for (int i = 0; i < current.steps().size(); i++) {
      Step next = current.steps().get(i);
      if (which.test(next) && stepRunner(session).isLeft(next, states.of(next))) {
        heartbeat.requireMine();
        List<String> before = current.names();
        if (!current.lookUp(session)) {
          fail("The table, or its key column, is gone. Undo removes what is left of the run.");
          return false;
        }
        if (!current.names().equals(before)) {
          // A child or partition has come or gone, and its steps with it.
          return apply(session, which, mayBegin);
        }
        if (next.phase().bindsChildren()) {
          ChildrenCheck children = new ChildrenCheck(journal, session, current);
          if (children.takesDetached()) {
            return apply(session, step -> step.phase().compareTo(next.phase()) < 0)
                && apply(session, which, mayBegin);
          }
          Optional<String> difference = children.difference();
          if (difference.isPresent()) {
            fail(difference.get());
            return false;
          }
        }
        if (!mayBegin.test(next) || !apply(session, current.steps().get(i), "step_applied")) {
          return false;
        }
      }
    }
    return true;
  }

  private void verify(SourceSession session) {
    if (apply(session, new Step.Verify(), "verified")) {
      endWhereItIs("verified", "Source and mappings agree.");
    }
  }

  /**
   * Done only if nothing is left of what the run does without a request. After the switch, a
   * verification is repeated when it is needed.
   */
  private void endWhereItIs(String kind, String detail) {
    StepStates states = journal.states(current.run().id());
    boolean isSwitched = RunAction.isSwitched(states.steps());
    boolean isThrough =
        current.steps().stream()
            .filter(step -> step.phase().isUsual() && !(isSwitched && step instanceof Step.Verify))
            .noneMatch(states::isOpen);
    end(isThrough ? RunState.DONE : RunState.PAUSED, kind, detail);
  }

  /** Whether source and mappings agreed within the last hour, or do now. */
  boolean isVerified(SourceSession session) {
    boolean _ = current.lookUp(session);
    return journal.isVerified(current.run(), VERIFIED_MAX)
        ? completePartitions(session)
        : apply(session, new Step.Verify(), "verified");
  }

  /** Whether the archive has every row that is about to lose its legacy ID. */
  boolean isArchived(SourceSession session) {
    boolean _ = current.lookUp(session);
    StepOutcome compared = stepRunner(session).compareArchive();
    return compared instanceof StepOutcome.Done
        || current.steps().stream()
            .filter(step -> step instanceof Step.Archive archive && archive.isForward())
            .allMatch(step -> settle(step, compared, StepState.VERIFIED, "step_applied"));
  }

  /**
   * Repeats the steps of partitions for those that were attached since: their rows have fired none
   * of our triggers, a row without a foreign key may come long before its parent, and their foreign
   * keys may be their own.
   */
  private boolean completePartitions(SourceSession session) {
    StepStates states = journal.states(current.run().id());
    return Steps.ofPartitions(current.run().target()).stream()
        .filter(step -> states.of(step).isApplied())
        .allMatch(step -> apply(session, step, "step_applied"));
  }

  /** Whether a step is applied: the source alone knows. */
  boolean isThere(SourceSession session, String name) {
    return current.steps().stream()
        .filter(step -> step.name().equals(name))
        .anyMatch(stepRunner(session)::isThere);
  }

  /** Also called if a runner died before it could record that the columns are gone. */
  void contracted(SourceSession session) {
    current.steps().stream()
        .filter(step -> step.name().equals(Step.DROP_COLUMNS))
        .forEach(step -> journal.step(current.run(), step, StepState.VERIFIED, Optional.empty()));
    boolean isVerified = current.run().status().goal() == Goal.VERIFY;
    contracted(isVerified ? stepRunner(session).apply(new Step.Verify()) : new StepOutcome.Done());
  }

  private boolean apply(SourceSession session, Step step, String kind) {
    if (step instanceof Step.Verify && !completePartitions(session)) {
      return false;
    }
    journal.event(current.run(), "step_started", name(step));
    return settle(step, stepRunner(session).apply(step), StepState.VERIFIED, kind);
  }

  /** So that all of them is undone: a partition that is detached keeps its twin, but no trigger. */
  private boolean takesDetachedBack(SourceSession session) {
    List<String> before = current.names();
    return !new ChildrenCheck(journal, session, current).takesDetached()
        || current.steps().stream()
            .filter(step -> step.name().startsWith(Step.CHILD_COLUMN + " "))
            .filter(step -> !before.contains(step.name()))
            .allMatch(step -> apply(session, step, "step_applied"));
  }

  /**
   * Whether an undo has to archive the keys of a run that was stopped in the moment in which rows
   * began to have keys. Its last try for the lock may have succeeded after that.
   */
  private boolean isDue(SourceSession session, Step step, StepState state) {
    return step instanceof Step.Archive archive
        && !archive.isForward()
        && state == StepState.PENDING
        && isThere(session, Step.DUAL_WRITE);
  }

  private void undo(SourceSession session) {
    if (!takesDetachedBack(session)) {
      return;
    }
    Phase last = current.run().status().undoPhase().orElse(Phase.EXPAND);
    StepStates states = journal.states(current.run().id());
    for (int i = current.steps().size() - 1; i >= 0 && current.isFrom(last, i); i--) {
      int before = current.steps().size();
      boolean hasTable = current.lookUp(session);
      if (current.steps().size() != before) {
        // A child is gone, and its steps with it.
        undo(session);
        return;
      }
      Step step = current.steps().get(i);
      StepState state = states.of(step);
      StepRunner runner = stepRunner(session);
      if (state.isBegun() || runner.isThere(step) || isDue(session, step, state)) {
        heartbeat.beat(); // the operator may have called off the rest since the last beat
        heartbeat.requireMine();
        StepOutcome outcome = runner.undo(step, state, hasTable);
        if (!settle(step, outcome, StepState.UNDONE, "step_undone")) {
          return;
        }
      }
    }
    if (last == Phase.EXPAND) {
      journal.undone(current.run());
    } else {
      endWhereItIs("undone", "Everything from " + last.wireName() + " on is undone.");
    }
  }

  /**
   * Records the outcome of a step.
   *
   * @param done the state of the step if nothing has failed
   * @param kind of the event in that case
   * @return false if the run failed with it
   */
  private boolean settle(Step step, StepOutcome outcome, StepState done, String kind) {
    TableMigration run = current.run();
    return switch (outcome) {
      case StepOutcome.Done(Optional<LockTime> locks) -> {
        journal.step(run, step, done, Optional.empty());
        journal.event(run, kind, name(step) + locks.map(time -> ": " + time.text()).orElse(""));
        yield true;
      }
      case StepOutcome.Failed(String reason, boolean isRefused) -> {
        if (isRefused && step.phase() == Phase.CONTRACT) {
          // The columns may have differed since, while a trigger was off.
          journal.step(run, new Step.Verify(), StepState.FAILED, Optional.of(TO_REPEAT));
        }
        journal.step(run, step, StepState.FAILED, Optional.of(reason));
        fail(name(step) + ": " + reason);
        yield false;
      }
    };
  }

  /** Ends the last phase, or a verification after it: there is nothing that a retry could do. */
  private void contracted(StepOutcome outcome) {
    switch (outcome) {
      case StepOutcome.Failed(String reason, boolean _) ->
          end(RunState.CONTRACTED, JournalTable.VERIFICATION_FAILED, reason);
      case StepOutcome.Done _ when current.run().status().goal() == Goal.VERIFY ->
          end(RunState.CONTRACTED, "verified", "Source and mappings agree.");
      case StepOutcome.Done _ ->
          end(
              RunState.CONTRACTED,
              "contracted",
              "The legacy IDs have left the table; the archive keeps them with their keys.");
    }
  }

  private static String name(Step step) {
    return step.phase().wireName() + " " + step.name();
  }

  private SwitchExecutor way() {
    return new SwitchExecutor(this, journal, source, heartbeat, current.run());
  }

  private StepRunner stepRunner(SourceSession session) {
    return new StepRunner(journal, gateway, source, session, current.run(), heartbeat);
  }

  void end(RunState state, String kind, String detail) {
    heartbeat.beat();
    journal.settle(current.run(), state, kind, detail);
  }

  /** A contracted run stays contracted, because neither retry nor undo has anything left to do. */
  void fail(String reason) {
    if (isContracted()) {
      journal.report(current.run(), Report.NONE);
      contracted(new StepOutcome.Failed(reason));
    } else {
      end(RunState.FAILED, "failed", reason);
    }
  }

  private boolean isContracted() {
    return journal.states(current.run().id()).isContracted();
  }
}
