package dev.coatcheck.migrate.run;

import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.migrate.run.TableMigration.StepStatus;
import dev.coatcheck.migrate.run.Transition.Decision;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.Step;
import java.util.List;

/** What can be asked of a run, in the order of its life. */
public enum RunAction implements WireNamed {
  START,
  PAUSE,
  RESUME,
  RETRY,
  /** Other throttle settings. */
  SET,
  VERIFY,
  SWITCH,
  CONTRACT,
  RETIRE,
  UNDO,
  CANCEL,
  FORGET;

  /**
   * Whether the state of the run allows it. The action may still be refused for what is found in
   * the source, or because the state has changed.
   *
   * @param steps of the run
   */
  public boolean isPossible(TableMigration run, List<StepStatus> steps) {
    return switch (this) {
      case START -> allows(Transition.start(List.of()), run);
      case PAUSE -> allows(Transition.PAUSE, run);
      case RESUME -> allows(Transition.RESUME, run);
      case RETRY -> allows(Transition.RETRY, run);
      // They are kept in any state, and have an effect while there is work to come.
      case SET -> !run.status().state().isEnd();
      case VERIFY -> allows(Transition.VERIFY, run);
      case SWITCH ->
          allows(Transition.switchWithin(SwitchWindow.ANY_TIME), run) && !isSwitched(steps);
      case CONTRACT -> allows(Transition.contract(List.of()), run) && isSwitched(steps);
      case RETIRE -> Retirement.isPossible(run);
      case UNDO -> allows(Transition.undo(Phase.EXPAND), run);
      case CANCEL -> allows(Transition.CANCEL, run);
      case FORGET -> ArchiveRemoval.refusal(run).isEmpty();
    };
  }

  private static boolean allows(Transition transition, TableMigration run) {
    return transition.decide(run) instanceof Decision.Change;
  }

  /** Whether the new keys are the primary key. */
  public static boolean isSwitched(List<StepStatus> steps) {
    return steps.stream()
        .filter(step -> step.name().equals(Step.PRIMARY_KEY))
        .anyMatch(step -> step.state().isApplied());
  }

  /**
   * The phases that can be undone: those that have left something on the table, the last one first.
   * Before that, the first phase, of which a step may have just begun.
   */
  public static List<Phase> undoable(List<StepStatus> steps) {
    List<Phase> begun =
        steps.reversed().stream()
            .filter(step -> step.state().isBegun())
            .map(StepStatus::phase)
            .filter(Phase::leavesTraces)
            .distinct()
            .toList();
    return begun.isEmpty() ? List.of(Phase.EXPAND) : begun;
  }
}
