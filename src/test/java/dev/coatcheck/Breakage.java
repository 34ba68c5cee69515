package dev.coatcheck;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.opentest4j.TestAbortedException;

/** Runs tests with a defect switched on. */
public final class Breakage {
  private static final ScopedValue<String> DEFECT = ScopedValue.newInstance();

  private Breakage() {}

  /** The defect switched on for this thread, or the empty string. */
  public static String current() {
    return DEFECT.orElse("");
  }

  /** One test for each defect that a method of {@code tests} is {@link BrokenBy}. */
  public static Stream<DynamicTest> requireRed(Object tests) {
    return requireRed(tests, _ -> true);
  }

  /** The same for some of the methods. */
  public static Stream<DynamicTest> requireRed(Object tests, Predicate<Method> chosen) {
    return Arrays.stream(tests.getClass().getDeclaredMethods())
        .filter(method -> method.isAnnotationPresent(BrokenBy.class))
        .filter(chosen)
        .flatMap(
            method ->
                Arrays.stream(method.getAnnotation(BrokenBy.class).value())
                    .map(
                        defect ->
                            DynamicTest.dynamicTest(
                                defect + " breaks " + method.getName(),
                                () -> requireRed(tests, method, defect))));
  }

  private static void requireRed(Object tests, Method method, String defect) {
    method.setAccessible(true);
    Throwable found = ScopedValue.where(DEFECT, defect).call(() -> thrownBy(tests, method));
    if (found instanceof TestAbortedException skipped) {
      throw skipped;
    }
    if (!(found instanceof AssertionError)) {
      throw new AssertionError(method.getName() + " stays green with the defect " + defect, found);
    }
    System.out.println(defect + " found: " + found.getMessage());
  }

  private static Throwable thrownBy(Object tests, Method method) {
    try {
      method.invoke(tests);
      return new IllegalStateException("nothing was thrown");
    } catch (InvocationTargetException e) {
      return Objects.requireNonNull(e.getCause());
    } catch (IllegalAccessException e) {
      return e;
    }
  }
}
