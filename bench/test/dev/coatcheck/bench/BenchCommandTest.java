package dev.coatcheck.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class BenchCommandTest {
  @Test
  void everyMeasurementSaysItsOptions() {
    Map<String, CommandLine> verbs =
        new TreeMap<>(new CommandLine(new BenchCommand()).getSubcommands());
    verbs.remove("micro"); // its arguments are those of JMH

    assertThat(verbs).containsKeys("mapping-size", "import", "backfill");
    assertThat(verbs)
        .allSatisfy(
            (_, verb) -> assertThat(verb.getCommandSpec().optionsMap()).containsKey("--help"));
  }
}
