package dev.coatcheck;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Map;
import org.awaitility.Awaitility;
import org.awaitility.pollinterval.PollInterval;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.opentest4j.TestAbortedException;

/**
 * Holds for every test; JUnit finds it by its service file.
 *
 * <ul>
 *   <li>A wait for an event has a minute: what has to happen happens later on a busy machine. It
 *       looks at once, soon again, and then each 100 ms.
 *   <li>A skip is a note on a developer's machine. Where {@code CI=true} it is a failure, because
 *       there the tools are installed, unless its reason is one of {@link #ALLOWED}.
 * </ul>
 */
public final class TestRules
    implements BeforeAllCallback,
        TestExecutionExceptionHandler,
        LifecycleMethodExecutionExceptionHandler {
  /** How the reasons of skips begin that CI accepts, and why it does. */
  private static final Map<String, String> ALLOWED =
      Map.of(
          "root may write everywhere",
          "CI may run as root, for whom nothing is unwritable",
          MachineDelay.REASON,
          "a deadline can't be tested on a machine that has no time",
          "a small disk needs the right to mount",
          "CI may run as another user than root, or in a container",
          "needs a superuser",
          "COATCHECK_TEST_DATABASE_USER may be none",
          "no Docker:",
          "CI may run on a machine without Docker, or without a registry of images",
          "no Node of version 20.19 or later:",
          "CI may run where only an older Node can be installed",
          "the registry lacks artefacts of ",
          "CI may run where Spring, Hibernate and jOOQ can't be fetched",
          "no runtime of a recipe:",
          "CI may run where neither Ruby nor Django nor Node can be installed");

  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** 10, 20, 40, 80, 100, 100 ms. */
  private static final PollInterval INTERVALS =
      (count, _) -> Duration.ofMillis(Math.min(100, 5L << Math.min(count, 5)));

  @Override
  public void beforeAll(ExtensionContext context) {
    Awaitility.setDefaultTimeout(PATIENCE);
    Awaitility.setDefaultPollDelay(Duration.ZERO);
    Awaitility.setDefaultPollInterval(INTERVALS);
  }

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable thrown)
      throws Throwable {
    throw judged(context, thrown);
  }

  @Override
  public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable thrown)
      throws Throwable {
    throw judged(context, thrown);
  }

  @Override
  public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable thrown)
      throws Throwable {
    throw judged(context, thrown);
  }

  private static Throwable judged(ExtensionContext context, Throwable thrown) {
    if (!(thrown instanceof TestAbortedException)) {
      return thrown;
    }
    String test =
        context.getRequiredTestClass().getSimpleName()
            + context.getTestMethod().map(Method::getName).map(name -> "." + name).orElse("");
    String reason = String.valueOf(thrown.getMessage()).replaceFirst("^Assumption failed: ", "");
    if (mayBeSkipped(reason, isSet("CI"), isSet("COATCHECK_TEST_TOOLS_MISSING"))) {
      System.out.println("skipped: " + test + ": " + reason);
      return thrown;
    }
    return new AssertionError(test + " must not be skipped in CI: " + reason, thrown);
  }

  /**
   * Whether a test may be skipped for that reason.
   *
   * @param isWithoutTools whether CI runs where no package can be installed
   */
  static boolean mayBeSkipped(String reason, boolean isCi, boolean isWithoutTools) {
    return !isCi
        || ALLOWED.keySet().stream().anyMatch(reason::startsWith)
        || (isWithoutTools && reason.contains("not installed"));
  }

  private static boolean isSet(String variable) {
    return "true".equals(System.getenv(variable));
  }
}
