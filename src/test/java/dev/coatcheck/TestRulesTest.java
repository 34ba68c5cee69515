package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

class TestRulesTest {
  @Test
  void aSkipFailsInCiUnlessItsReasonIsListed() {
    TestAbortedException tool = skip("nginx is not installed");
    TestAbortedException root = skip("root may write everywhere");

    assertThat(TestRules.judged(tool, "EdgeNginxTest", false)).isSameAs(tool);
    assertThat(TestRules.judged(tool, "EdgeNginxTest", true))
        .isInstanceOf(AssertionError.class)
        .hasMessage("EdgeNginxTest must not be skipped in CI: nginx is not installed");
    assertThat(TestRules.judged(root, "AnyTest", true)).isSameAs(root);
    assertThat(TestRules.judged(new TestAbortedException(), "AnyTest", true))
        .isInstanceOf(AssertionError.class);
  }

  /** JUnit tells an extension nothing of tests that are disabled, so nothing may disable them. */
  @Test
  void noTestIsDisabled() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
      List<Path> disabled =
          files
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

  private static TestAbortedException skip(String reason) {
    try {
      assumeTrue(false, reason);
      throw new AssertionError();
    } catch (TestAbortedException skipped) {
      return skipped;
    }
  }
}
