package dev.coatcheck.api.console.migrations;

import dev.coatcheck.api.console.page.Display;
import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.console.page.Frame;
import dev.coatcheck.api.exchange.Json;
import dev.coatcheck.api.exchange.Problem;
import dev.coatcheck.api.routes.migrations.RunFields;
import dev.coatcheck.migrate.plan.Estimate;
import dev.coatcheck.migrate.plan.Precondition;
import dev.coatcheck.migrate.run.NewKeys;
import dev.coatcheck.migrate.run.RunAction;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.table.Phase;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the page of an action shows.
 *
 * @param type of the run, or an empty text until this instance learns of it
 * @param form as it was sent, if something was wrong with it
 * @param fault why nothing was done
 * @param isPossible whether the state of the run allows the action
 */
record ActionView(
    Frame frame,
    RunAction action,
    ActionWords words,
    TableMigration run,
    String type,
    String formToken,
    Form form,
    Optional<Problem> fault,
    boolean isPossible) {
  /** Before the code of a precondition in the name of its box. */
  static final String ACCEPT = "accept.";

  /** The field with the state of the run that the page shows. */
  static final String SEEN = "seen";

  private static final String EXAMPLE_FROM = "2099-01-31T02:00:00Z";
  private static final String EXAMPLE_TO = "2099-01-31T04:00:00Z";

  String table() {
    return RunFields.table(run);
  }

  String runPath() {
    return RunActions.path(run.id());
  }

  String path() {
    return RunActions.path(run.id(), action);
  }

  String state() {
    return run.status().state().wireName();
  }

  String seen() {
    return state() + " " + run.status().goal().wireName();
  }

  /** Whether the action takes something away. */
  boolean isDangerous() {
    return words.isDangerous(action);
  }

  static String boxOf(Precondition condition) {
    return ACCEPT + condition.code();
  }

  boolean isAccepted(Precondition condition) {
    return form.isTicked(boxOf(condition));
  }

  String sent(String field) {
    return form.sent(field);
  }

  static String seconds(Estimate.PhaseTime time) {
    return Display.duration(Duration.ofSeconds(time.seconds()));
  }

  /** A size for people, such as {@code 1,234 MB}. */
  static String megabytes(long bytes) {
    return Display.number((bytes + (1 << 20) - 1) >> 20) + " MB";
  }

  /** What gives new rows their keys. */
  static String named(NewKeys keys) {
    return switch (keys) {
      case NONE -> "The application brings them (none)";
      case FUNCTION -> "A function beside the table (function)";
    };
  }

  /** What an undo of a phase takes back. */
  static String undone(Phase phase) {
    return switch (phase) {
      case EXPAND ->
          "Expand: everything. All keys go into the archive, then column, triggers, number source"
              + " and outbox are dropped. A later run gives each row the key that it had";
      case BACKFILL -> "Backfill and all later phases";
      case INDEX -> "Index: drop the unique index on the new keys";
      case NOT_NULL -> "Not null: the new column may be empty again";
      case CHILDREN -> "Children: drop the twins of the columns that refer to the table";
      case VERIFY -> "Verify";
      case PREPARE_SWITCH -> "Prepare the switch: drop the indexes for the switch";
      case SWITCH -> "Switch: the legacy IDs become the primary key again";
      case CONTRACT -> "Contract: before its last step only";
    };
  }

  /** The command that does the same. */
  String command() {
    return "coatcheck migrate-table "
        + action.wireName()
        + " "
        + run.id()
        + switch (action) {
          case START -> run.plan().preconditions().isEmpty() ? "" : " --accept " + codes();
          case SET -> " --rows-per-second-max 2000";
          case SWITCH -> " --not-before " + EXAMPLE_FROM + " --not-after " + EXAMPLE_TO;
          case UNDO -> " --phase PHASE";
          case CONTRACT -> " --confirm " + Display.shellWord(table()) + " --accept CODES";
          case RETIRE -> " --new-keys none --confirm " + Display.shellWord(table());
          case PAUSE, RESUME, RETRY, VERIFY, CANCEL, FORGET -> "";
        };
  }

  private String codes() {
    return String.join(",", codesOf());
  }

  private List<String> codesOf() {
    return run.plan().preconditions().stream().map(Precondition::code).toList();
  }

  /** The call of the API that does the same. */
  String curl() {
    String path = "/v1/table-migrations/" + run.id();
    return action == RunAction.SET
        ? Display.curl("PATCH", path, "{\"rows_per_second_max\":2000}")
        : Display.curl("POST", path + "/" + action.wireName(), body());
  }

  private String body() {
    Map<String, Object> body = new LinkedHashMap<>();
    switch (action) {
      case START -> body.put("accept", codesOf());
      case SWITCH -> {
        body.put("not_before", EXAMPLE_FROM);
        body.put("not_after", EXAMPLE_TO);
      }
      case UNDO -> body.put("phase", "PHASE");
      case CONTRACT -> {
        body.put("confirm", table());
        body.put("accept", List.of("CODE"));
      }
      case RETIRE -> {
        body.put("confirm", table());
        body.put("new_keys", "none");
      }
      case SET, PAUSE, RESUME, RETRY, VERIFY, CANCEL, FORGET -> {
        return "";
      }
    }
    return Json.text(body);
  }
}
