package dev.coatcheck.api.console.migrations;

import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.migrate.run.RunAction;
import dev.coatcheck.migrate.run.TableMigration;
import java.util.Arrays;
import java.util.List;

/**
 * The buttons of a run: what its state allows and the person may do.
 *
 * @param id of the run
 * @param formToken for actions that need no page of their own
 */
record RunActions(long id, String formToken, List<Button> buttons) {
  RunActions {
    buttons = List.copyOf(buttons);
  }

  record Button(RunAction action, String path, ActionWords words) {
    boolean isDangerous() {
      return words.isDangerous(action);
    }

    /** Whether it acts at once; the others lead to a page that says what follows. */
    boolean isAtOnce() {
      return action == RunAction.PAUSE || action == RunAction.RESUME;
    }
  }

  /**
   * The buttons of a run for a person; none for those who may only look.
   *
   * @param steps of the run
   */
  static RunActions of(TableMigration run, List<TableMigration.StepStatus> steps, Visit visit) {
    List<Button> buttons =
        visit.mayChange(Scope.TABLE_MIGRATIONS_WRITE)
            ? Arrays.stream(RunAction.values())
                .filter(action -> action.isPossible(run, steps))
                .map(
                    action ->
                        new Button(action, path(run.id(), action), ActionWords.of(action, run)))
                .toList()
            : List.of();
    return new RunActions(run.id(), visit.formToken(), buttons);
  }

  /** The page of a run. */
  static String path(long id) {
    return Section.MIGRATIONS.path() + "/" + id;
  }

  static String path(long id, RunAction action) {
    return path(id) + "/" + segment(action);
  }

  /** The last part of the path of an action's page. */
  static String segment(RunAction action) {
    return action == RunAction.SET ? "throttle" : action.wireName();
  }
}
