package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.journal.Journal;
import dev.coatcheck.migrate.plan.OldColumnTable;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.SwitchWindow;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.migrate.steps.Step;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * The way of a run through the switch, and through the last phase: what the switch needs is built
 * at once, the switch itself waits for its time window. The gate is a moment and not a memory: a
 * verification that is older than an hour is done again.
 */
final class SwitchCourse {
  private static final long LOOK_MILLIS = 200;

  private final Course course;
  private final Journal journal;
  private final Source source;
  private final Heartbeat heartbeat;
  private final TableMigration run;
  private final SwitchWindow window;

  SwitchCourse(
      Course course, Journal journal, Source source, Heartbeat heartbeat, TableMigration run) {
    this.course = course;
    this.journal = journal;
    this.source = source;
    this.heartbeat = heartbeat;
    this.run = run;
    this.window = run.switchWindow();
  }

  void go(SourceSession session) {
    if (!course.apply(session, SwitchCourse::isBuiltBefore)) {
      return;
    }
    if (!course.isThere(session, Step.PRIMARY_KEY) && !mayBegin(session)) {
      return;
    }
    if (course.apply(session, step -> step.phase() == Phase.SWITCH)) {
      journal.switched(run, callsSoFar());
      course.end(RunState.DONE, "switched", "The new keys are the primary key of the table.");
    }
  }

  /** The last phase: there is no way back from its last step. */
  void contract(SourceSession session) {
    if (course.isVerified(session)
        && course.apply(session, SwitchCourse::isBeforeDrop)
        && course.completePartitions(session)
        && course.apply(session, step -> step.phase() == Phase.CONTRACT)) {
      course.contracted(session);
    }
  }

  private static boolean isBeforeDrop(Step step) {
    return step.phase() == Phase.CONTRACT && !step.name().equals(Step.DROP_COLUMNS);
  }

  /** None if they can't be read: then calls before the switch count too. */
  private Map<String, Long> callsSoFar() {
    try {
      return new OldColumnTable(source, run.target()).called().calls();
    } catch (DatabaseUnavailable late) {
      return Map.of();
    }
  }

  private static boolean isBuiltBefore(Step step) {
    return step.phase().compareTo(Phase.SWITCH) < 0 || step.name().equals(Step.NEW_PK);
  }

  /** In the window, and verified: a verification may last beyond the end of the window. */
  private boolean mayBegin(SourceSession session) {
    return awaitWindow() && course.isVerified(session) && awaitWindow();
  }

  /** False if the window closed before. Nothing was switched then. */
  private boolean awaitWindow() {
    Optional<String> why = window.waitsAt(Instant.now());
    if (why.isPresent() && heartbeat.because(why)) {
      journal.event(run, "waiting", why.get());
    }
    while (window.waitsAt(Instant.now()).isPresent()) {
      heartbeat.pause(LOOK_MILLIS);
    }
    heartbeat.because(Optional.empty());
    if (window.isOverAt(Instant.now())) {
      course.end(
          RunState.DONE,
          "postponed",
          "The time window of the switch closed before the switch began; the primary key is where"
              + " it was. The indexes that are built stay: switch again uses them, undo of"
              + " prepare_switch drops them.");
      return false;
    }
    return true;
  }
}
