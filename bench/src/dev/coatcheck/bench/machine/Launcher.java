package dev.coatcheck.bench.machine;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The program as users start it, by the launcher of the source tree. Where the measurements run
 * from classes, a JVM on their class path stands in for it.
 *
 * @param hasCaches whether starts use the JVM's caches of classes
 */
public record Launcher(List<String> command, boolean hasCaches) {
  /** The launcher names itself to the measurements that it starts. */
  private static final String PROPERTY = "coatcheck.launcher";

  private static final ProcessStat NONE = new ProcessStat("", 0, 0, 0);

  public static Launcher find() {
    String launcher = System.getProperty(PROPERTY);
    return launcher == null
        ? new Launcher(
            JavaProgram.named("dev.coatcheck.Main")
                .options(GatewayProcess.jvmOptions())
                .builder(List.of())
                .command(),
            false)
        : new Launcher(List.of(launcher), true);
  }

  /** The same without caches. */
  public Launcher withoutCaches() {
    return new Launcher(command, false);
  }

  /** A process that isn't started yet, without any setting of this shell. */
  public ProcessBuilder builder(Map<String, String> settings, String... arguments) {
    List<String> full = new ArrayList<>(command);
    full.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(full);
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("COATCHECK_"));
    environment.putAll(settings);
    if (!hasCaches) {
      environment.put("COATCHECK_AOT", "no");
    }
    return builder;
  }

  /**
   * Runs a verb to its end.
   *
   * @return CPU seconds of the launcher and the JVM, to 10 ms
   * @throws MeasureFailed if the verb fails, or no other process of ours may end meanwhile
   */
  public double cpuSeconds(Map<String, String> settings, String... arguments) throws IOException {
    long before = reapedTicks();
    Process process =
        ChildProcess.start(
            builder(settings, arguments)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT));
    try {
      if (process.waitFor() != 0) {
        throw new MeasureFailed(arguments[0] + " failed; its reason is above.");
      }
    } catch (InterruptedException stopped) {
      process.destroy();
      Thread.currentThread().interrupt();
      throw new MeasureFailed("interrupted");
    }
    return (double) (reapedTicks() - before) / ProcessStat.TICKS_PER_SECOND;
  }

  /** CPU of those children of this process that have ended. */
  private static long reapedTicks() {
    return ProcessStat.read(ProcessHandle.current().pid()).orElse(NONE).reapedTicks();
  }
}
