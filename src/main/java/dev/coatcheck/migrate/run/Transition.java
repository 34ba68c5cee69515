package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.table.Phase;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * An action that changes the state of a run: in which states it is possible, and what it changes.
 *
 * @param kind of the event
 * @param conditions of the run itself, in the order in which they are refused
 */
record Transition(
    String kind,
    String detail,
    Set<RunState> from,
    List<Condition> conditions,
    UnaryOperator<TableMigration> change) {
  /** What is decided about a run while its row is locked. */
  sealed interface Decision {
    /** The run is written as it is to be, with an event. */
    record Change(TableMigration run, String kind, String detail) implements Decision {}

    /** A part is done in the source: an event says so, and the outcome what is left. */
    record Begun(String kind, String detail, ActionOutcome outcome) implements Decision {}

    /** Nothing is written. */
    record Refuse(ActionOutcome outcome) implements Decision {}

    /** Not possible in the state of the run. */
    static Decision refuse(TableMigration run, String why) {
      return new Refuse(new ActionOutcome.NotNow(run.status().state(), why));
    }

    /** Other throttle settings, in any state. */
    static Decision set(TableMigration run, ThrottleSettings settings) {
      return new Change(run.with(settings), "set", run.throttleSettings().differences(settings));
    }
  }

  /**
   * @param otherwise why it is refused, and what is possible
   */
  record Condition(Predicate<TableMigration> holds, String otherwise) {}

  private static final Condition ON_TABLE =
      new Condition(
          run -> run.status().occupies(), "Nothing of the run is on the table. Plan another run.");

  private static final Condition FAILED_ONLY_IN_UNDO =
      new Condition(
          run -> run.status().state() != RunState.FAILED || run.status().goal() == Goal.UNDO,
          "Only an undo that failed is resumed, forward again. Retry the run.");

  private static final Condition MOVES_PRIMARY_KEY =
      new Condition(
          run -> !run.keepPrimaryKey(),
          "The run was planned to keep the primary key. Plan another run.");

  /** What is asked for once every row has its key. */
  private static final Set<Goal> AFTER_KEYS = EnumSet.of(Goal.SWITCH, Goal.CONTRACT);

  static final Transition PAUSE = to(RunState.PAUSED, "pause", EnumSet.of(RunState.RUNNING));

  /** To where it was paused on its way; from an undo that failed, forward again. */
  static final Transition RESUME =
      new Transition(
          "resume",
          "",
          EnumSet.of(RunState.PAUSED, RunState.FAILED),
          List.of(FAILED_ONLY_IN_UNDO, ON_TABLE),
          run ->
              run.with(
                  run.status()
                      .to(RunState.RUNNING)
                      .towards(
                          AFTER_KEYS.contains(run.status().goal())
                              ? run.status().goal()
                              : Goal.FORWARD,
                          Optional.empty())));

  static final Transition RETRY = to(RunState.RUNNING, "retry", EnumSet.of(RunState.FAILED));

  static final Transition CANCEL =
      to(
          RunState.CANCELLED,
          "cancel",
          EnumSet.of(RunState.PLANNED, RunState.RUNNING, RunState.PAUSED, RunState.FAILED));

  static final Transition VERIFY =
      towards(
          Goal.VERIFY,
          Optional.empty(),
          "verify",
          "",
          EnumSet.of(RunState.PAUSED, RunState.FAILED, RunState.DONE, RunState.CONTRACTED));

  static Transition start(List<String> accepted) {
    return new Transition(
        "start",
        "accepted: " + String.join(", ", accepted),
        EnumSet.of(RunState.PLANNED),
        List.of(),
        run -> run.accepting(accepted).with(run.status().to(RunState.RUNNING).occupying(true)));
  }

  static Transition switchWithin(SwitchWindow window) {
    return new Transition(
        "switch",
        window.text(),
        EnumSet.of(RunState.DONE),
        List.of(ON_TABLE, MOVES_PRIMARY_KEY),
        run ->
            run.within(window)
                .with(run.status().to(RunState.RUNNING).towards(Goal.SWITCH, Optional.empty())));
  }

  static Transition contract(List<String> accepted) {
    return towards(
        Goal.CONTRACT,
        Optional.empty(),
        "contract",
        "accepted: " + String.join(", ", accepted),
        EnumSet.of(RunState.DONE));
  }

  static Transition undo(Phase phase) {
    return towards(
        Goal.UNDO,
        Optional.of(phase),
        "undo",
        "from " + phase.wireName() + " on",
        EnumSet.complementOf(EnumSet.of(RunState.PLANNED, RunState.CONTRACTED)));
  }

  private static Transition to(RunState next, String kind, Set<RunState> from) {
    return new Transition(kind, "", from, List.of(), run -> run.with(run.status().to(next)));
  }

  private static Transition towards(
      Goal goal, Optional<Phase> phase, String kind, String detail, Set<RunState> from) {
    return new Transition(
        kind,
        detail,
        from,
        List.of(ON_TABLE),
        run -> run.with(run.status().to(RunState.RUNNING).towards(goal, phase)));
  }

  /** Refused for a reason that was found out before, if the state of the run allows it at all. */
  Function<TableMigration, Decision> unless(Optional<ActionOutcome> refusal) {
    return run -> {
      Decision decided = decide(run);
      return decided instanceof Decision.Change
          ? refusal.<Decision>map(Decision.Refuse::new).orElse(decided)
          : decided;
    };
  }

  Decision decide(TableMigration run) {
    TableMigration.Status status = run.status();
    if (status.state() == RunState.CONTRACTED
        && !(from.contains(status.state()) && status.occupies())) {
      return Decision.refuse(
          run,
          status.occupies()
              ? "The legacy IDs have left the table for good. Possible are verify and retire."
              : "The run is retired, and nothing of it is on the table. Possible is forget.");
    }
    if (!from.contains(status.state())) {
      return Decision.refuse(run, "Possible when " + names(from));
    }
    return conditions.stream()
        .filter(condition -> !condition.holds().test(run))
        .findFirst()
        .map(unmet -> Decision.refuse(run, unmet.otherwise()))
        .orElseGet(() -> new Decision.Change(change.apply(run), kind, detail));
  }

  private static String names(Set<RunState> states) {
    List<String> names = new ArrayList<>(states.stream().map(RunState::wireName).toList());
    String last = names.removeLast();
    return (names.isEmpty() ? last : String.join(", ", names) + " or " + last) + ".";
  }
}
