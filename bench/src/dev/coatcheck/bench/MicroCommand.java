package dev.coatcheck.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.openjdk.jmh.Main;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/**
 * {@code coatcheck bench micro}: single methods under JMH, which takes these arguments as its own.
 */
@Command(
    name = "micro",
    description = "Runs the JMH benchmarks whose names match, or all; -h shows JMH's own options.")
final class MicroCommand implements Callable<Integer> {
  @Unmatched private final List<String> arguments = new ArrayList<>();

  @Override
  public Integer call() throws IOException {
    Main.main(arguments.toArray(String[]::new));
    return 0;
  }
}
