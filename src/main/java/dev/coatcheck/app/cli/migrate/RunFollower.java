package dev.coatcheck.app.cli.migrate;

import dev.coatcheck.app.client.Bars;
import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.GatewayCalls;
import dev.coatcheck.app.client.NoAnswer;
import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.ProgressBar;
import tools.jackson.databind.JsonNode;

/**
 * Follows a run until it stops: draws a bar on a terminal, prints a line every ten seconds
 * elsewhere. Survives an outage of a minute. An interrupt ends the command but not the run, and
 * prints that.
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

  /** Waits until the run stops; returns it. */
  JsonNode end(String id) throws CommandFailed {
    Thread interrupted = new Thread(() -> printInterrupt(id));
    Runtime.getRuntime().addShutdownHook(interrupted);
    try {
      return follow(id);
    } finally {
      quit(interrupted);
    }
  }

  private void printInterrupt(String id) {
    err.println();
    err.println(NextCommand.afterInterrupt(id));
    err.flush();
  }

  private static void quit(Thread interrupted) {
    try {
      var _ = Runtime.getRuntime().removeShutdownHook(interrupted);
    } catch (IllegalStateException isRunning) {
      // The process ends, and the hook has printed.
    }
  }

  private JsonNode follow(String id) throws CommandFailed {
    JsonNode run = look(id);
    long lineDueNano = nanoTime.getAsLong();
    try (ProgressBar bar =
        Bars.open(
            run.path("table").asString(),
            " rows",
            run.path("progress").path("rows_total").asLong(0))) {
      while (run.path("state").asString().equals("running")) {
        bar.maxHint(run.path("progress").path("rows_total").asLong(0));
        bar.stepTo(run.path("progress").path("rows_done").asLong(0));
        bar.setExtraMessage(RunText.activity(run));
        if (!Bars.isDrawn() && nanoTime.getAsLong() - lineDueNano >= 0) {
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

  /**
   * The gateway may restart, or its database may fail for a minute: the run continues by itself.
   */
  private JsonNode look(String id) throws CommandFailed {
    for (int silences = 0; ; silences++) {
      try {
        return gateway.get("/v1/table-migrations/" + id);
      } catch (NoAnswer silence) {
        if (silences >= SILENCES_MAX) {
          throw new CommandFailed(
              silence.getMessage()
                  + " The run may continue in the gateway. Next: "
                  + NextCommand.watch(id));
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
      throw new CommandFailed("interrupted. " + NextCommand.afterInterrupt(id));
    }
  }
}
