package dev.coatcheck.app.cli.migrate;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** The phases of a run in order, each with a mark for its progress. */
final class PhaseProgress {
  private static final String DONE = "[x]";
  private static final String NOW = "[>]";
  private static final String FAILED = "[!]";
  private static final String OPEN = "[ ]";

  private PhaseProgress() {}

  static String of(JsonNode run) {
    Map<String, List<String>> phases =
        run.path("steps")
            .valueStream()
            .collect(
                Collectors.groupingBy(
                    step -> step.path("phase").asString(),
                    LinkedHashMap::new,
                    Collectors.mapping(
                        step -> step.path("state").asString(), Collectors.toList())));
    return phases.entrySet().stream()
        .map(phase -> mark(run, phase.getKey(), phase.getValue()) + " " + phase.getKey())
        .collect(Collectors.joining(" "));
  }

  private static String mark(JsonNode run, String phase, List<String> states) {
    if (states.contains("failed")) {
      return FAILED;
    }
    if (states.stream().allMatch("verified"::equals)) {
      return DONE;
    }
    boolean isNow =
        run.path("state").asString().equals("running")
            && !run.path("goal").asString().equals("undo")
            && RunText.phase(run).startsWith(phase + " ");
    return isNow ? NOW : OPEN;
  }

  static boolean isSwitched(JsonNode run) {
    return run.path("steps")
        .valueStream()
        .anyMatch(
            step ->
                step.path("phase").asString().equals("switch")
                    && step.path("name").asString().equals("primary-key")
                    && step.path("state").asString().equals("verified"));
  }

  /** Whether the triggers of a contracted run are off the table. */
  static boolean isRetired(JsonNode run) {
    return run.path("steps")
        .valueStream()
        .anyMatch(
            step ->
                step.path("phase").asString().equals("expand")
                    && step.path("state").asString().equals("undone"));
  }

  /** The time window of a running switch. */
  static Optional<String> window(JsonNode run) {
    String opens = run.path("switch_not_before").asString("");
    String closes = run.path("switch_not_after").asString("");
    boolean isUnderWay =
        run.path("goal").asString().equals("switch")
            && !run.path("state").asString().equals("done");
    if (!isUnderWay || (opens.isEmpty() && closes.isEmpty())) {
      return Optional.empty();
    }
    return Optional.of(
        "Window of the switch: "
            + (opens.isEmpty() ? "at once" : "not before " + opens)
            + (closes.isEmpty() ? "." : ", not after " + closes + "."));
  }
}
