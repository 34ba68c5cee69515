package dev.coatcheck.bench.load;

import dev.coatcheck.bench.machine.MeasureFailed;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import tools.jackson.databind.json.JsonMapper;

/**
 * The program of {@link GeneratorProcess}: for each line of its input it sends a load, and prints a
 * line with the result.
 */
final class GeneratorMain {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private GeneratorMain() {}

  /**
   * A line of the input.
   *
   * @param perSecond requests of an open loop; 0 for a closed one
   */
  record Order(long nanos, double perSecond) {}

  /** Takes the file of a {@link LoadSpec}, which it deletes, and whether it has its own core. */
  public static void main(String[] arguments) throws IOException {
    Path file = Path.of(arguments[0]);
    HttpLoop loop = new HttpLoop(LoadSpec.read(file), Boolean.parseBoolean(arguments[1]));
    Files.delete(file);
    BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try {
      for (String line = orders.readLine(); line != null; line = orders.readLine()) {
        System.out.println(JSON.writeValueAsString(send(loop, JSON.readValue(line, Order.class))));
      }
    } catch (MeasureFailed failed) {
      System.err.println("coatcheck bench: the load failed: " + failed.getMessage());
      System.exit(1);
    }
  }

  private static LoadResult send(HttpLoop loop, Order order) {
    Duration time = Duration.ofNanos(order.nanos());
    return order.perSecond() > 0 ? loop.open(time, order.perSecond()) : loop.closed(time);
  }
}
