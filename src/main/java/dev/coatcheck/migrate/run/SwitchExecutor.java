package dev.coatcheck.migrate.run;

import dev.coatcheck.migrate.plan.OldColumnTable;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.migrate.table.Step;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * Executes the switch and the last phase. What the switch needs is built at once; the switch itself
 * waits for its time window. A verification that is older than an hour is repeated first.
 */
final class SwitchExecutor {
  private static final long LOOK_MILLIS = 200;

  private final RunExecutor executor;
  private final JournalTable journal;
  private final Source source;
  private final Heartbeat heartbeat;
  private final TableMigration run;
  private final SwitchWindow window;

  SwitchExecutor(
      RunExecutor executor,
      JournalTable journal,
      Source source,
      Heartbeat heartbeat,
      TableMigration run) {
    this.executor = executor;
    this.journal = journal;
    this.source = source;
    this.heartbeat = heartbeat;
    this.run = run;
    this.window = run.switchWindow();
  }

  void go(SourceSession session) {
    if (!executor.apply(session, SwitchExecutor::isBuiltBefore)) {
      return;
    }
    if (!executor.isThere(session, Step.PRIMARY_KEY) && !mayBegin(session)) {
      return;
    }
    if (executor.apply(
        session, step -> step.phase() == Phase.SWITCH, step -> mayBegin(session, step))) {
      journal.switched(run, callsSoFar());
      executor.end(RunState.DONE, "switched", "The new keys are the primary key of the table.");
    }
  }

  /**
   * The last phase, after what is left of the others: a foreign key may have come since, or a
   * switch may have failed after the key had moved. There is no way back from its last step, and
   * the archive before it may take hours: what was verified before may be too long ago by then.
   */
  void contract(SourceSession session) {
    if (executor.apply(session, step -> step.phase() != Phase.CONTRACT)
        && executor.isVerified(session)
        && executor.apply(session, SwitchExecutor::isBeforeDrop)
        && executor.isArchived(session)
        && executor.isVerified(session)
        && executor.apply(session, step -> step.phase() == Phase.CONTRACT)) {
      executor.contracted(session);
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
    return awaitWindow() && executor.isVerified(session) && awaitWindow();
  }

  /** A partition that is detached meanwhile goes through all phases before the key moves. */
  private boolean mayBegin(SourceSession session, Step step) {
    return !step.name().equals(Step.PRIMARY_KEY)
        || executor.isThere(session, Step.PRIMARY_KEY)
        || awaitWindow();
  }

  /** False if the window closed before. Nothing was switched then. */
  private boolean awaitWindow() {
    Instant now = journal.now();
    Optional<String> why = window.waitsAt(now);
    if (why.isPresent() && heartbeat.because(why)) {
      journal.event(run, "waiting", why.get());
    }
    while (window.waitsAt(now).isPresent()) {
      heartbeat.pause(LOOK_MILLIS);
      now = journal.now();
    }
    heartbeat.because(Optional.empty());
    if (window.isOverAt(now)) {
      executor.end(
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
