package dev.coatcheck.api.console.migrations;

import dev.coatcheck.migrate.run.RunAction;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.source.Target;
import java.util.ArrayList;
import java.util.List;

/**
 * What people read about an action before they do it.
 *
 * @param label of its button in the bar
 * @param title of its page
 * @param button that does it
 * @param isFinal whether the name of the table has to be typed first
 * @param follows what the action does to the table, in sentences
 */
record ActionWords(
    String label, String title, String button, boolean isFinal, List<String> follows) {
  private static final String LOCKS =
      "A lock is waited for at most 400 ms at a time, so that your writers go first, and tried 20"
          + " times. After that the run fails with the table unchanged, and names the session in"
          + " the way.";

  ActionWords {
    follows = List.copyOf(follows);
  }

  /** Whether the action takes something away. */
  boolean isDangerous(RunAction action) {
    return isFinal || action == RunAction.UNDO;
  }

  static ActionWords of(RunAction action, TableMigration run) {
    String table = run.target().table().text();
    String number = "run " + run.id();
    return switch (action) {
      case START -> simple("Start", "Start this table migration?", "Start " + number, start(run));
      case PAUSE ->
          simple(
              "Pause",
              "Pause this run?",
              "Pause " + number,
              List.of(
                  "The run stops after the batch or the statement in hand, and keeps no lock.",
                  "New rows get their keys all the while. Resume continues from the last batch that"
                      + " was committed."));
      case RESUME ->
          simple(
              "Resume",
              "Resume this run?",
              "Resume " + number,
              List.of(
                  "The run continues from the last batch that was committed, within seconds.",
                  "After an undo, it does what was undone again."));
      case RETRY ->
          simple(
              "Retry",
              "Retry what failed?",
              "Retry " + number,
              List.of(
                  "The run continues with the step that failed. Steps that are done are not"
                      + " repeated.",
                  "Rows that were set aside are tried again: correct them first, or the trigger or"
                      + " check that refused them."));
      case SET ->
          simple(
              "Throttle",
              "How fast may this run work?",
              "Set the throttle",
              List.of(
                  "New settings count within a second, also in the middle of a run. Before each"
                      + " batch the run looks at the source and waits while a limit is exceeded.",
                  "0 switches a limit off. A megabyte is 2^20 bytes."));
      case VERIFY ->
          simple(
              "Verify",
              "Verify every row?",
              "Verify " + number,
              List.of(
                  "Each row is compared with its key, its public ID and its legacy ID, range by"
                      + " range. The report is part of the run.",
                  "Nothing is changed and no lock is taken beyond that of a SELECT. The whole table"
                      + " is read once."));
      case SWITCH ->
          simple("Switch", "Make the new keys the primary key?", "Switch " + table, switchKey());
      case CONTRACT ->
          last(
              "Contract",
              "Drop the legacy IDs from the table?",
              "Contract " + table,
              contract(run));
      case RETIRE ->
          last(
              "Retire",
              "Take everything of the run off the table?",
              "Retire " + number,
              List.of(
                  "The triggers go in one short transaction: ACCESS EXCLUSIVE for an instant,"
                      + " without a scan. What is left in the outbox is brought to the gateway;"
                      + " then the outbox and the number source are dropped.",
                  "Keys, public IDs and old links stay. The archive of legacy IDs stays until it is"
                      + " forgotten.",
                  "There is no way back."));
      case UNDO ->
          simple(
              "Undo",
              "Undo this run?",
              "Undo",
              List.of(
                  "The chosen phase and all later phases are undone, the last one first, each under"
                      + " the locks that it took: ACCESS EXCLUSIVE for an instant, without a scan.",
                  "Public IDs and mappings stay, so links that you have given away go on working.",
                  LOCKS));
      case CANCEL ->
          last(
              "Cancel",
              "End this run for good?",
              "Cancel " + number,
              List.of(
                  "The run ends where it is, and can't be resumed. Pause it instead if you want to"
                      + " go on later.",
                  "What it left on the table stays and works: the column, the triggers and the"
                      + " keys. Undo takes them off."));
      case FORGET ->
          last(
              "Forget",
              "Drop the archive of keys?",
              "Forget " + number,
              List.of(
                  "The archive of %s is dropped from the source, and the schema coatcheck_migration with the last archive. It takes no lock on %s."
                      .formatted(table, table),
                  "No later run can be planned for the type: its keys would differ from the keys of"
                      + " the public IDs. Public IDs and mappings stay.",
                  "There is no way back."));
    };
  }

  private static ActionWords simple(
      String label, String title, String button, List<String> follows) {
    return new ActionWords(label, title, button, false, follows);
  }

  private static ActionWords last(String label, String title, String button, List<String> follows) {
    return new ActionWords(label, title, button, true, follows);
  }

  private static List<String> start(TableMigration run) {
    List<String> follows = new ArrayList<>();
    follows.add(
        "One transaction adds the empty column "
            + Target.NEW_COLUMN
            + " and the triggers: ACCESS"
            + " EXCLUSIVE for an instant, without a rewrite. From then on each new row has its"
            + " key.");
    follows.add(
        "Old rows get their keys batch by batch, in the order of their IDs. A batch locks its own"
            + " rows only; the throttle settings limit its pace.");
    follows.add(
        "The unique index is built CONCURRENTLY (SHARE UPDATE EXCLUSIVE), which holds up no writer."
            + " NOT NULL takes ACCESS EXCLUSIVE for an instant, without a scan.");
    if (!run.target().children().isEmpty()) {
      follows.add(
          "Each column that refers to the table gets a twin in the same way; its foreign key takes"
              + " SHARE ROW EXCLUSIVE on both tables for an instant.");
    }
    follows.add(LOCKS);
    follows.add(
        "The primary key stays where it is"
            + (run.keepPrimaryKey() ? "." : " until you switch it.")
            + " Everything can be undone.");
    return follows;
  }

  private static List<String> switchKey() {
    return List.of(
        "The indexes that the switch needs are built at once, CONCURRENTLY (SHARE UPDATE"
            + " EXCLUSIVE), which holds up no writer.",
        "Within the window, one transaction moves the primary key: ACCESS EXCLUSIVE on the table"
            + " and the tables that refer to it, for milliseconds, without a scan.",
        LOCKS,
        "Both columns stay, and each follows the other. Your application has to know of the switch:"
            + " see “The switch” in the documentation.",
        "An undo moves the primary key back, just as fast.");
  }

  private static List<String> contract(TableMigration run) {
    return List.of(
        "All legacy IDs with their keys go into the archive, which reads the table as a SELECT"
            + " does.",
        "Then one transaction drops the column "
            + run.target().keyColumn()
            + (run.target().children().isEmpty() ? "" : " and the columns that refer to it")
            + ": ACCESS EXCLUSIVE for milliseconds, without a scan.",
        LOCKS,
        "Until that transaction, the phase can be undone. After it there is no way back: programs"
            + " that name a dropped column fail. Old links go on working.");
  }
}
