package dev.coatcheck.app.cli.migrate;

import java.util.List;
import tools.jackson.databind.JsonNode;

/** The command that a user most likely needs next, ready to paste. */
final class NextCommand {
  private static final String COMMAND = "coatcheck migrate-table ";
  static final String WITHOUT_RUNS = COMMAND + "plan --table TABLE --type NAME";

  private NextCommand() {}

  static String after(JsonNode run) {
    String id = RunText.id(run);
    return switch (run.path("state").asString()) {
      case "planned" -> run.has("plan") ? start(run) : COMMAND + "start " + id;
      case "running" -> watch(id);
      case "paused" -> COMMAND + "resume " + id + ", or undo " + id;
      case "failed" ->
          COMMAND
              + "retry "
              + id
              + (run.path("goal").asString("").equals("undo")
                  ? ", or resume " + id + ", which goes forward again"
                  : ", or undo " + id);
      case "cancelled" ->
          RunText.isAnythingLeft(run)
              ? COMMAND + "undo " + id + " --phase expand, which clears the table"
              : COMMAND + "plan, for another run";
      case "contracted" ->
          PhaseProgress.isRetired(run)
              ? COMMAND + "forget " + id + ", which drops the archive"
              : COMMAND
                  + "verify "
                  + id
                  + " at any time, or retire "
                  + id
                  + " --new-keys function, which takes the triggers off";
      default -> COMMAND + "verify " + id + " at any time, or " + afterDone(run, id);
    };
  }

  private static String afterDone(JsonNode run, String id) {
    if (PhaseProgress.isSwitched(run)) {
      return "undo %s --phase switch, which moves the primary key back, or old-columns %s, before contract"
          .formatted(id, id);
    }
    return run.path("keep_primary_key").asBoolean(false)
        ? "undo " + id
        : "switch " + id + ", which makes the new keys the primary key";
  }

  /**
   * Removes the legacy IDs from the table of a run.
   *
   * @param oldColumns with the preconditions
   */
  static String contract(JsonNode run, JsonNode oldColumns) {
    String accept = accept(oldColumns);
    return "%scontract %s --confirm %s%s"
        .formatted(
            COMMAND,
            RunText.id(run),
            run.path("table").asString(),
            accept.isEmpty()
                ? ", which can't be undone"
                : accept + ", once that is met, which can't be undone");
  }

  /** After a switch whose time window closed. */
  static String afterPostponed(String id) {
    return COMMAND
        + "switch "
        + id
        + " with another window, or undo "
        + id
        + " --phase prepare_switch, which drops the indexes that wait for the switch";
  }

  /** Starts a planned run and accepts all its preconditions. */
  static String start(JsonNode run) {
    return COMMAND + "start " + RunText.id(run) + accept(run.path("plan"));
  }

  private static String accept(JsonNode conditional) {
    List<String> codes = conditional.path("preconditions").findValuesAsString("code");
    return codes.isEmpty() ? "" : " --accept " + String.join(",", codes);
  }

  static String watch(String id) {
    return COMMAND + "status " + id + " --watch";
  }

  /** For a user whose command ends before the run does. */
  static String afterInterrupt(String id) {
    return "Run %s continues in the gateway. Watch it: %s. Pause it: %spause %s"
        .formatted(id, watch(id), COMMAND, id);
  }
}
