package dev.coatcheck.app.cli;

import java.io.Console;
import java.io.PrintWriter;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import tools.jackson.databind.JsonNode;

/** Follows a run until it stops, with a bar for whoever watches. Stays through a short outage. */
final class RunFollower {
  private static final long LOOK_MILLIS = 500;
  private static final int SILENCES_MAX = 120;

  /** Where nobody watches; a log should not fill up. */
  private static final int LINES_MAX = 100;

  private final GatewayCalls gateway;
  private final PrintWriter err;

  RunFollower(GatewayCalls gateway, PrintWriter err) {
    this.gateway = gateway;
    this.err = err;
  }

  /** The run as it was when it stopped. */
  JsonNode end(String id) throws CommandFailed {
    JsonNode run = look(id);
    Set<String> said = new HashSet<>();
    try (ProgressBar bar = bar(run)) {
      while (run.path("state").asString().equals("running")) {
        bar.maxHint(run.path("progress").path("rows_total").asLong(0));
        bar.stepTo(run.path("progress").path("rows_done").asLong(0));
        String now = RunText.activity(run);
        bar.setExtraMessage(now);
        // Reasons to wait differ in their figures from look to look: one line is enough.
        if (!isWatched() && said.size() < LINES_MAX && said.add(now.replaceAll("[0-9]+", "0"))) {
          err.println(now);
        }
        pause(id);
        run = look(id);
      }
      bar.stepTo(run.path("progress").path("rows_done").asLong(0));
    }
    return run;
  }

  /** The gateway may restart, or its database be away for a minute: the run goes on by itself. */
  private JsonNode look(String id) throws CommandFailed {
    for (int silences = 0; ; silences++) {
      try {
        return gateway.get("/v1/table-migrations/" + id);
      } catch (GatewayCalls.NoAnswer silence) {
        if (silences >= SILENCES_MAX) {
          throw new CommandFailed(
              silence.getMessage()
                  + " The run may go on. Next: coatcheck migrate-table status "
                  + id
                  + " --watch");
        }
        pause(id);
      }
    }
  }

  private static void pause(String id) throws CommandFailed {
    try {
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new CommandFailed("interrupted. Run " + id + " goes on.");
    }
  }

  private static ProgressBar bar(JsonNode run) {
    return new ProgressBarBuilder()
        .setTaskName(run.path("table").asString())
        .setUnit(" rows", 1)
        .setInitialMax(run.path("progress").path("rows_total").asLong(0))
        .setStyle(ProgressBarStyle.ASCII)
        .setConsumer(isWatched() ? null : new ImportVerb.Unwatched())
        .build();
  }

  /** Which Javas answer null for that has changed twice. */
  @SuppressWarnings("SystemConsoleNull")
  private static boolean isWatched() {
    Console console = System.console();
    return console != null && console.isTerminal();
  }
}
