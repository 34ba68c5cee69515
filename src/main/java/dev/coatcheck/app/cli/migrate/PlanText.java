package dev.coatcheck.app.cli.migrate;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** Prints a plan: a summary for the decision to start, then the statements if requested. */
final class PlanText {
  private static final long KIBI = 1024;

  private final PrintWriter out;

  PlanText(PrintWriter out) {
    this.out = out;
  }

  /** The summary and the next command. */
  void print(JsonNode run, boolean withSql) {
    JsonNode plan = run.path("plan");
    out.printf(
        "Run %s: %s in the source %s, type %s.%n%n",
        RunText.id(run),
        run.path("table").asString(),
        run.path("source").asString(),
        run.path("type").asString("?"));
    sizes(run, plan);
    children(plan.path("children"));
    switching(run, plan);
    preconditions(plan.path("preconditions"));
    notes(plan.path("notes"));
    if (withSql) {
      plan.path("steps").forEach(this::step);
    } else {
      out.printf("%nplan --sql prints every statement, and the statement that undoes it.%n");
    }
    out.printf("%nNothing was changed. Next: %s%n", NextCommand.start(run));
  }

  private void sizes(JsonNode run, JsonNode plan) {
    JsonNode estimate = plan.path("estimate");
    String column = run.path("created_at_column").asString("");
    out.printf(
        "What  %,d rows, highest ID %s, get a key, a public ID and their legacy ID; %s.%n",
        plan.path("rows").asLong(),
        plan.path("highest_id").asString(),
        column.isEmpty()
            ? "no column has the time at which a row was made"
            : "keys contain the time in " + column);
    if (plan.path("older_than_epoch").asLong() > 0) {
      out.printf(
          "      %,d rows are older than the epoch of the keys; they get the oldest keys.%n",
          plan.path("older_than_epoch").asLong());
    }
    List<JsonNode> phases =
        estimate
            .path("phases")
            .valueStream()
            .filter(one -> !isOfSwitch(one) && !isPhase(one, "contract"))
            .filter(one -> !plan.path("children").isEmpty() || !isPhase(one, "children"))
            .toList();
    out.printf(
        "Time  about %s without throttling: %s.%n",
        seconds(phases.stream()),
        phases.stream()
            .map(one -> one.path("phase").asString() + " " + seconds(Stream.of(one)))
            .collect(Collectors.joining(", ")));
    out.printf(
        "Disk  the table has %s. The run needs up to %s more on the source, and writes %s of WAL"
            + " for replicas and archive;%n      mappings need %s at the gateway; an undo keeps %s"
            + " on the source.%n",
        bytes(plan.path("bytes")),
        bytes(estimate.path("disk_bytes")),
        bytes(estimate.path("wal_bytes")),
        bytes(estimate.path("mapping_bytes")),
        bytes(estimate.path("archive_bytes")));
  }

  private void children(JsonNode children) {
    if (!children.isEmpty()) {
      out.printf("%nColumns that refer to the table get a twin that refers to the new keys:%n");
      children.forEach(
          child ->
              out.printf(
                  "  %s.%s: %s%n",
                  child.path("table").asString(),
                  child.path("column").asString(),
                  child.path("twin").asString()));
    }
  }

  private void switching(JsonNode run, JsonNode plan) {
    if (run.path("keep_primary_key").asBoolean(false)) {
      out.printf("%nThe primary key stays: start runs all phases.%n");
      return;
    }
    out.printf(
        "%nstart runs the phases up to verify. The primary key moves only with the command switch,"
            + " also later, within a time window; that takes about %s.%nThe switch adds two"
            + " unique indexes (%s), and each insert writes to both. They are built before the"
            + " window opens, and stay until undo.%nThe columns of the legacy IDs go only with the"
            + " command contract, for good; old links go on working.%n",
        seconds(plan.path("estimate").path("phases").valueStream().filter(PlanText::isOfSwitch)),
        bytes(plan.path("switch_disk_bytes")));
  }

  private static boolean isOfSwitch(JsonNode one) {
    return isPhase(one, "prepare_switch") || isPhase(one, "switch");
  }

  private static boolean isPhase(JsonNode one, String phase) {
    return one.path("phase").asString().equals(phase);
  }

  /** The total time of some phases. */
  private static String seconds(Stream<JsonNode> phases) {
    return RunText.duration(phases.mapToLong(one -> one.path("seconds").asLong()).sum());
  }

  private void preconditions(JsonNode conditions) {
    Predicate<JsonNode> isFound = one -> !one.path("found").isEmpty();
    Predicate<JsonNode> isOpen = one -> one.path("not_searched").isString();
    String why =
        conditions
            .valueStream()
            .filter(isOpen)
            .map(one -> one.path("not_searched").asString())
            .findFirst()
            .orElse("");
    group("found", conditions, isFound);
    group("not searched: " + why, conditions, isFound.negate().and(isOpen));
    group("always", conditions, isFound.negate().and(isOpen.negate()));
  }

  private void group(String title, JsonNode conditions, Predicate<JsonNode> is) {
    if (conditions.valueStream().anyMatch(is)) {
      out.printf("%nYour application has to meet (%s):%n", title);
      conditions.valueStream().filter(is).forEach(this::precondition);
    }
  }

  private void precondition(JsonNode condition) {
    entry(condition);
    condition.path("found").forEach(one -> out.printf("    - %s%n", one.asString()));
  }

  private void notes(JsonNode notes) {
    if (!notes.isEmpty()) {
      out.printf("%nGood to know:%n");
      notes.forEach(this::entry);
    }
  }

  private void entry(JsonNode entry) {
    out.printf("  %s: %s%n", entry.path("code").asString(), entry.path("detail").asString());
  }

  private void step(JsonNode step) {
    out.printf("%n%s: %s%n", step.path("phase").asString(), step.path("name").asString());
    statements("  ", step.path("statements"));
    if (!step.path("undo_statements").isEmpty()) {
      out.println("  undone by");
      statements("    ", step.path("undo_statements"));
    }
  }

  private void statements(String indent, JsonNode statements) {
    for (JsonNode statement : statements) {
      out.println(
          statement
              .asString()
              .strip()
              .lines()
              .collect(Collectors.joining("\n" + indent, indent, ";")));
    }
  }

  private static String bytes(JsonNode bytes) {
    double left = bytes.asDouble(0);
    for (String unit : new String[] {"bytes", "KiB", "MiB", "GiB"}) {
      if (left < 10 * KIBI) {
        return String.format(Locale.ROOT, "%,.0f %s", left, unit);
      }
      left /= KIBI;
    }
    return String.format(Locale.ROOT, "%,.0f TiB", left);
  }
}
