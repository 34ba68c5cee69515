package dev.coatcheck.app.cli.migrate;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** Prints runs of table migrations; each text ends with the next command. */
final class RunText {
  private static final int IDS_SHOWN = 5;

  /** What stands for the application of a session without a process, before its identifier. */
  private static final String PREPARED = "prepared transaction ";

  private final PrintWriter out;

  RunText(PrintWriter out) {
    this.out = out;
  }

  void status(JsonNode run) {
    JsonNode progress = run.path("progress");
    String state = run.path("state").asString();
    out.printf("Run %s of %s is %s: ", id(run), run.path("table").asString(), state);
    if (state.equals("cancelled") && !isAnythingLeft(run)) {
      out.println("nothing of it is on the table.");
    } else if (state.equals("contracted")) {
      out.println(
          PhaseProgress.isRetired(run)
              ? "it is retired, so nothing of it is on the table, and old links continue to work."
              : "the legacy IDs have left the table, and old links continue to work.");
      out.println("Phases: " + PhaseProgress.of(run));
    } else {
      out.printf(
          "%,d of %,d rows have their keys.%n",
          progress.path("rows_done").asLong(), progress.path("rows_total").asLong());
      out.println("Phases: " + PhaseProgress.of(run));
    }
    PhaseProgress.window(run).ifPresent(out::println);
    if (!progress.path("seconds_left").isNull() && isRunning(run)) {
      out.printf(
          "%,d rows a second, about %s left.%n",
          Math.round(progress.path("rows_per_second").asDouble(0)),
          duration(progress.path("seconds_left").asLong()));
    }
    reason(run);
    setAside(run);
    times(progress);
    out.println("Next: " + NextCommand.after(run));
  }

  /** After an undo: the phase, and the status of the run. */
  void undone(JsonNode run) {
    out.printf("Undone: %s.%n", undoing(run));
    status(run);
  }

  void forgotten(JsonNode run) {
    out.printf(
        "The archive of %s is dropped from the source %s. Its public IDs and mappings stay.%n",
        run.path("table").asString(), run.path("source").asString());
  }

  /** Each error with its rows. */
  private void setAside(JsonNode run) {
    Map<String, List<String>> rows = new LinkedHashMap<>();
    run.path("set_aside")
        .forEach(
            row ->
                rows.computeIfAbsent(row.path("error").asString(), _ -> new ArrayList<>())
                    .add(row.path("legacy_id").asString()));
    if (!rows.isEmpty()) {
      out.printf("%,d rows are set aside:%n", run.path("progress").path("rows_set_aside").asLong());
      rows.forEach(
          (error, ids) ->
              out.printf(
                  "  %s: ID %s%s%n",
                  error,
                  ids.stream().limit(IDS_SHOWN).collect(Collectors.joining(", ")),
                  ids.size() > IDS_SHOWN ? " and others" : ""));
      out.println(
          "Correct these rows, or the trigger or check that refuses them; then retry fills these"
              + " rows.");
    }
  }

  private void times(JsonNode progress) {
    long lost = progress.path("times_lost").asLong();
    if (lost > 0) {
      out.printf(
          "%,d rows keep their order but lose their time: later rows contradict it.%n", lost);
    }
    long early = progress.path("before_epoch").asLong();
    if (early > 0) {
      out.printf(
          "%,d rows are older than the epoch of the keys; they have the oldest keys.%n", early);
    }
  }

  void throttleSettings(JsonNode run) {
    run.path("throttle").forEachEntry((name, value) -> out.println(name + ": " + value));
    out.println("Next: " + NextCommand.after(run));
  }

  /** Each check of the last verification, and its findings. */
  void report(JsonNode run) {
    JsonNode report = run.path("report");
    for (JsonNode check : report.path("checks")) {
      long count = check.path("count").asLong();
      out.printf(
          "%-6s %s: %s%n",
          count == 0 ? "ok" : "FOUND",
          check.path("code").asString(),
          count == 0
              ? check.path("title").asString()
              : count + " - " + check.path("title").asString());
      if (count > 0 && !check.path("samples").isEmpty()) {
        out.println("       for instance " + joined(check.path("samples")));
      }
    }
    if (report.path("clean").asBoolean(false)) {
      out.printf("%,d rows compared; no errors found.%n", report.path("rows").asLong());
    }
  }

  static String failure(JsonNode run) {
    String reason = run.path("reason").asString("");
    return "run %s of %s is %s%s. Next: %s"
        .formatted(
            id(run),
            run.path("table").asString(),
            run.path("state").asString(),
            reason.isEmpty() ? "" : ": " + reason.replaceFirst("\\.$", ""),
            NextCommand.after(run));
  }

  /** After a switch whose time window closed before it began. */
  static String postponed(JsonNode run) {
    return "run %s of %s is not switched: its time window closed before the switch began. The primary key is where it was. Next: %s"
        .formatted(id(run), run.path("table").asString(), NextCommand.afterPostponed(id(run)));
  }

  /** The step of a run, or the reason why it waits. */
  static String activity(JsonNode run) {
    String reason = run.path("reason").asString("");
    if (!reason.isEmpty()) {
      return "waiting: " + reason;
    }
    return switch (run.path("goal").asString()) {
      case "verify" -> "verify";
      case "undo" -> "undo of " + undoing(run);
      default -> phase(run);
    };
  }

  private static String undoing(JsonNode run) {
    String phase = run.path("undo_phase").asString("");
    return phase + " and all later phases";
  }

  /** One line for a log: progress, time left, and activity. */
  static String line(JsonNode run) {
    JsonNode progress = run.path("progress");
    long done = progress.path("rows_done").asLong(0);
    long total = progress.path("rows_total").asLong(0);
    String left =
        progress.path("seconds_left").isNumber()
            ? ", about " + duration(progress.path("seconds_left").asLong()) + " left"
            : "";
    return "%s %d%% (%d of %d rows%s) %s"
        .formatted(
            run.path("table").asString(),
            total == 0 ? 100 : Math.min(100, 100 * done / total),
            done,
            total,
            left,
            activity(run));
  }

  static String phase(JsonNode run) {
    for (JsonNode step : run.path("steps")) {
      if (!step.path("state").asString().equals("verified")) {
        return step.path("phase").asString() + " " + step.path("name").asString();
      }
    }
    return "last step";
  }

  /** Whether a step of the run is on the table. */
  static boolean isAnythingLeft(JsonNode run) {
    return run.path("steps")
        .valueStream()
        .map(step -> step.path("state").asString())
        .anyMatch(state -> !state.equals("pending") && !state.equals("undone"));
  }

  private void reason(JsonNode run) {
    String reason = run.path("reason").asString("");
    if (!reason.isEmpty()) {
      out.println((isRunning(run) ? "The run waits: " : "Reason: ") + reason);
    }
    for (JsonNode session : run.path("waits_for").path("sessions")) {
      if (session.path("pid").asInt() > 0) {
        out.printf(
            "To end process %1$d: select pg_terminate_backend(%1$d)%n",
            session.path("pid").asInt());
      } else if (session.path("application").asString("").startsWith(PREPARED)) {
        String identifier = session.path("application").asString().substring(PREPARED.length());
        out.printf("To end it: rollback prepared %1$s, or commit prepared %1$s%n", identifier);
      }
    }
  }

  private static boolean isRunning(JsonNode run) {
    return run.path("state").asString().equals("running");
  }

  private static String joined(JsonNode texts) {
    return texts.valueStream().map(JsonNode::asString).collect(Collectors.joining(", "));
  }

  static String id(JsonNode run) {
    return run.path("id").asString();
  }

  static String duration(long seconds) {
    long minutes = Math.ceilDiv(seconds, 60);
    return seconds <= 120
        ? seconds + " s"
        : minutes <= 120 ? minutes + " min" : minutes / 60 + " h";
  }
}
