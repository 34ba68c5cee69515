package dev.coatcheck.app.cli.types;

import dev.coatcheck.app.client.Misused;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** What is wrong with a file of types, line by line; all of it is told at once. */
final class FileProblems {
  /** More than a reader reads; a wrong file can have one a line. */
  private static final int LISTED_MAX = 50;

  private final String file;
  private final List<Problem> problems = new ArrayList<>();

  private record Problem(int line, String text) {}

  FileProblems(String file) {
    this.file = file;
  }

  /**
   * @param line from 1
   */
  void add(int line, String text) {
    problems.add(new Problem(line, text));
  }

  boolean areNone() {
    return problems.isEmpty();
  }

  void throwIfAny() throws Misused {
    if (problems.isEmpty()) {
      return;
    }
    String count = problems.size() == 1 ? "a problem" : problems.size() + " problems";
    throw new Misused(
        problems.stream()
            .sorted(Comparator.comparingInt(Problem::line))
            .limit(LISTED_MAX)
            .map(problem -> System.lineSeparator() + "  line " + problem.line + ": " + problem.text)
            .collect(Collectors.joining("", file + " has " + count + ":", "")));
  }
}
