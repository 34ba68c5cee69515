package dev.coatcheck.migrate.source;

import java.util.List;

/**
 * An observation about a source.
 *
 * @param code stable, in snake_case
 * @param detail what was found and what to do about it, in whole sentences
 */
public record Diagnostic(String code, String detail) {
  private static final int NAMED_MAX = 5;

  /** The first five, and how many more there are. */
  public static String listed(List<String> found, String separator) {
    int more = found.size() - NAMED_MAX;
    return String.join(separator, found.subList(0, Math.min(NAMED_MAX, found.size())))
        + (more > 0 ? " and " + more + " more" : "");
  }
}
