package dev.coatcheck.app.boot;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds environment variables that look like misspelt settings. */
public final class UnknownVariables {
  private static final int LETTERS_MAX = 2;

  /** Known variables that are no settings: of sources, the command line, the launcher and tests. */
  private static final Pattern OTHERS =
      Pattern.compile("COATCHECK_(URL|API_KEY|KEY_FILE|CA_FILE|AOT|(SOURCE|JAVA|TEST)_.*)");

  private UnknownVariables() {}

  /** A sentence for each variable within two edits of a setting. */
  public static List<String> named(Collection<String> variables) {
    Set<String> known = Set.copyOf(Stream.of(Setting.values()).map(Setting::variable).toList());
    return variables.stream()
        .filter(name -> name.startsWith("COATCHECK") && !known.contains(name))
        .filter(name -> !OTHERS.matcher(name).matches())
        .sorted()
        .flatMap(name -> near(name).map(meant -> sentence(name, meant)).stream())
        .toList();
  }

  private static Optional<String> near(String name) {
    return Stream.of(Setting.values())
        .map(Setting::variable)
        .filter(variable -> distance(name, variable) <= LETTERS_MAX)
        .findFirst();
  }

  private static String sentence(String name, String meant) {
    return name + " is not a setting and has no effect. Did you mean " + meant + "?";
  }

  /** The number of letters to insert, delete or replace (Levenshtein distance). */
  private static int distance(String one, String other) {
    int[] row = new int[other.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= one.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int replaced = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[other.length()];
  }
}
