package dev.coatcheck.app.cli.migrate;

import dev.coatcheck.app.client.CommandFailed;
import dev.coatcheck.app.client.NoAnswer;
import dev.coatcheck.app.client.ProgressBars;
import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.ProgressBar;
import tools.jackson.databind.JsonNode;

/**
 * Follows a run until it stops: draws a bar on a terminal, or else prints a line every ten seconds.
 * Survives an outage of a minute. An interrupt ends the command but not the run, and prints that.
 */
final class RunFollower {
  private static final long LOOK_MILLIS = 500;
  private static final long LINE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long SILENCE_NANOS_MAX = TimeUnit.MINUTES.toNanos(1);

  private final RunCalls calls;
  private final PrintWriter err;
  private final LongSupplier nanoTime;

  RunFollower(RunCalls calls, PrintWriter err, LongSupplier nanoTime) {
    this.calls = calls;
    this.err = err;
    this.nanoTime = nanoTime;
  }

  /** Waits until the run stops, and returns it. */
  JsonNode end() throws CommandFailed {
    Thread interrupted = new Thread(this::printInterrupt);
    Runtime.getRuntime().addShutdownHook(interrupted);
    try {
      return follow();
    } finally {
      quit(interrupted);
    }
  }

  private void printInterrupt() {
    err.println();
    err.println(NextCommand.afterInterrupt(calls.id()));
    err.flush();
  }

  private static void quit(Thread interrupted) {
    try {
      var _ = Runtime.getRuntime().removeShutdownHook(interrupted);
    } catch (IllegalStateException isRunning) {
      // The process is ending, and the hook has printed.
    }
  }

  private JsonNode follow() throws CommandFailed {
    JsonNode run = look();
    long lineDueNano = nanoTime.getAsLong();
    try (ProgressBar bar =
        ProgressBars.open(
            run.path("table").asString(),
            " rows",
            run.path("progress").path("rows_total").asLong(0))) {
      while (run.path("state").asString().equals("running")) {
        bar.maxHint(run.path("progress").path("rows_total").asLong(0));
        bar.stepTo(run.path("progress").path("rows_done").asLong(0));
        bar.setExtraMessage(RunText.activity(run));
        if (!ProgressBars.isDrawn() && nanoTime.getAsLong() - lineDueNano >= 0) {
          err.println(RunText.line(run));
          lineDueNano = nanoTime.getAsLong() + LINE_NANOS;
        }
        pause();
        run = look();
      }
      bar.stepTo(run.path("progress").path("rows_done").asLong(0));
    }
    return run;
  }

  /**
   * The gateway may restart, or its database may be unavailable for a minute. The run continues
   * anyway.
   */
  private JsonNode look() throws CommandFailed {
    long from = System.nanoTime();
    for (boolean isFirst = true; ; isFirst = false) {
      try {
        return calls.get();
      } catch (NoAnswer silence) {
        if (isFirst) {
          err.println(silence.getMessage() + " Trying again for a minute.");
        }
        if (System.nanoTime() - from > SILENCE_NANOS_MAX) {
          throw new CommandFailed(
              "%s The run may continue in the gateway. Next: %s"
                  .formatted(silence.getMessage(), NextCommand.watch(calls.id())));
        }
        pause();
      }
    }
  }

  private void pause() throws CommandFailed {
    try {
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new CommandFailed("interrupted. " + NextCommand.afterInterrupt(calls.id()));
    }
  }
}
