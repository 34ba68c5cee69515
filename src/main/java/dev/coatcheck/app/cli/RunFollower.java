package dev.coatcheck.app.cli;

import java.io.Console;
import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import tools.jackson.databind.JsonNode;

/**
 * Follows a run until it stops: with a bar on a terminal, with a line every ten seconds elsewhere.
 * Stays through a short outage. An interrupt ends the command and says that the run goes on.
 */
final class RunFollower {
  private static final long LOOK_MILLIS = 500;
  private static final long LINE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int SILENCES_MAX = 120;

  private final GatewayCalls gateway;
  private final PrintWriter err;
  private final LongSupplier nanoTime;

  RunFollower(GatewayCalls gateway, PrintWriter err, LongSupplier nanoTime) {
    this.gateway = gateway;
    this.err = err;
    this.nanoTime = nanoTime;
  }

  /** The run as it was when it stopped. */
  JsonNode end(String id) throws CommandFailed {
    Thread interrupted = new Thread(() -> sayItGoesOn(id));
    Runtime.getRuntime().addShutdownHook(interrupted);
    try {
      return follow(id);
    } finally {
      quit(interrupted);
    }
  }

  private void sayItGoesOn(String id) {
    err.println();
    err.println(RunText.goesOn(id));
    err.flush();
  }

  private static void quit(Thread interrupted) {
    try {
      var _ = Runtime.getRuntime().removeShutdownHook(interrupted);
    } catch (IllegalStateException isRunning) {
      // The process ends, and the hook has spoken.
    }
  }

  private JsonNode follow(String id) throws CommandFailed {
    JsonNode run = look(id);
    long lineDueNano = nanoTime.getAsLong();
    try (ProgressBar bar = bar(run)) {
      while (run.path("state").asString().equals("running")) {
        bar.maxHint(run.path("progress").path("rows_total").asLong(0));
        bar.stepTo(run.path("progress").path("rows_done").asLong(0));
        bar.setExtraMessage(RunText.activity(run));
        if (!isWatched() && nanoTime.getAsLong() - lineDueNano >= 0) {
          err.println(RunText.line(run));
          lineDueNano = nanoTime.getAsLong() + LINE_NANOS;
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
      throw new CommandFailed("interrupted. " + RunText.goesOn(id));
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
