package dev.coatcheck.bench.load;

import dev.coatcheck.bench.machine.ChildProcess;
import dev.coatcheck.bench.machine.JavaProgram;
import dev.coatcheck.bench.machine.MeasureFailed;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import tools.jackson.databind.json.JsonMapper;

/** The generator of our own, in a JVM of its own, which stays warm from one load to the next. */
final class GeneratorProcess implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final List<String> OPTIONS =
      List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError");

  private final Process process;
  private final BufferedReader results;
  private final PrintWriter orders;

  private GeneratorProcess(Process process) {
    this.process = process;
    this.results = process.inputReader(StandardCharsets.UTF_8);
    this.orders = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
  }

  /**
   * Starts the process.
   *
   * @param before a command that starts the JVM on a core of its own; may be empty
   */
  static GeneratorProcess start(LoadSpec spec, List<String> before) throws IOException {
    return new GeneratorProcess(
        ChildProcess.start(
            JavaProgram.named(GeneratorMain.class.getName())
                .options(OPTIONS)
                .after(before)
                .builder(List.of(spec.write().toString(), Boolean.toString(!before.isEmpty())))
                .redirectError(ProcessBuilder.Redirect.INHERIT)));
  }

  /** As many requests as the connections can carry. */
  LoadResult closed(Duration time) {
    return send(new GeneratorMain.Order(time.toNanos(), 0));
  }

  /** Sends so many a second for so long, in an open loop. */
  LoadResult open(Duration time, double perSecond) {
    if (!(perSecond > 0)) {
      throw new IllegalArgumentException("an open loop of " + perSecond + " requests a second");
    }
    return send(new GeneratorMain.Order(time.toNanos(), perSecond));
  }

  private LoadResult send(GeneratorMain.Order order) {
    orders.println(JSON.writeValueAsString(order));
    try {
      String result = results.readLine();
      if (result == null) {
        throw new MeasureFailed("The load generator ended; its error is printed above.");
      }
      return JSON.readValue(result, LoadResult.class);
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  /** Ends the process, which reads to the end of its input. */
  @Override
  public void close() {
    orders.close();
    ChildProcess.stop(process);
  }
}
