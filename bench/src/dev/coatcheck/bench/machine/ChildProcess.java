package dev.coatcheck.bench.machine;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** A process that ends with this one, also if this one is told to end. */
public final class ChildProcess {
  private static final int STOP_SECONDS_MAX = 15;

  private ChildProcess() {}

  /**
   * Starts a process.
   *
   * @throws MeasureFailed if this process was told to end
   */
  public static Process start(ProcessBuilder builder) throws IOException {
    Process process = builder.start();
    Thread atExit = new Thread(() -> stop(process), "end-" + process.pid());
    try {
      Runtime.getRuntime().addShutdownHook(atExit);
    } catch (IllegalStateException ending) {
      stop(process);
      throw new MeasureFailed("This process was told to end.");
    }
    // Fails while this process ends, when the hook runs already.
    var _ = process.onExit().thenApply(_ -> Runtime.getRuntime().removeShutdownHook(atExit));
    return process;
  }

  /** Asks a process to end, and ends it if it doesn't. */
  public static void stop(Process process) {
    process.destroy();
    try {
      if (!process.waitFor(STOP_SECONDS_MAX, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException stopped) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
