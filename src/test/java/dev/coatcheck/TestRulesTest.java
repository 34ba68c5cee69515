package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class TestRulesTest {
  @Test
  void aSkipFailsInCiUnlessItsReasonIsListed() {
    assertThat(TestRules.mayBeSkipped("nginx is not installed", false, false)).isTrue();
    assertThat(TestRules.mayBeSkipped("nginx is not installed", true, false)).isFalse();
    assertThat(TestRules.mayBeSkipped("nginx is not installed", true, true)).isTrue();
    assertThat(TestRules.mayBeSkipped("no time today", true, true)).isFalse();
    assertThat(TestRules.mayBeSkipped("null", true, false)).isFalse();
    assertThat(TestRules.mayBeSkipped("root may write everywhere", true, false)).isTrue();
    assertThat(TestRules.mayBeSkipped(MachineDelay.REASON + "300 ms late", true, false)).isTrue();
  }

  /** JUnit tells an extension nothing of tests that are disabled, so nothing may disable them. */
  @Test
  void noTestIsDisabled() throws IOException {
    try (Stream<Path> product = Files.walk(Path.of("src/test/java"));
        Stream<Path> bench = Files.walk(Path.of("bench/test"))) {
      List<Path> disabled =
          Stream.concat(product, bench)
              .filter(file -> file.toString().endsWith(".java"))
              .filter(TestRulesTest::disables)
              .toList();
      assertThat(disabled).isEmpty();
    }
  }

  private static boolean disables(Path file) {
    try {
      return Files.readString(file)
          .lines()
          .anyMatch(line -> line.startsWith("import org.junit.jupiter.api.") && condition(line));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static boolean condition(String line) {
    return line.contains(".Disabled") || line.contains(".condition.");
  }
}
