package dev.coatcheck.migrate.verify;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The result of a verification.
 *
 * @param rows how many rows were checked
 */
public record Report(boolean clean, long rows, List<Check> checks) {
  /** Of a verification that could not be done. */
  public static final Report NONE = new Report(false, 0, List.of());

  public Report {
    checks = List.copyOf(checks);
  }

  /**
   * Whether one promise holds.
   *
   * @param code its stable name
   * @param count how often it is broken; 0: it holds
   * @param samples up to 20 legacy IDs of rows, or names of objects
   */
  public record Check(String code, String title, long count, List<String> samples) {
    public Check {
      samples = List.copyOf(samples);
    }

    public boolean holds() {
      return count == 0;
    }
  }

  /** The broken promises, each with its first example. */
  public String broken() {
    return checks.stream()
        .filter(check -> !check.holds())
        .map(
            check ->
                "%s: %d, for instance %s"
                    .formatted(check.code(), check.count(), check.samples().getFirst()))
        .collect(Collectors.joining("; "));
  }
}
