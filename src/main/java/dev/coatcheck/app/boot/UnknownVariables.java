package dev.coatcheck.app.boot;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds environment variables that look like misspelt settings. */
public final class UnknownVariables {
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
    return Spelling.near(name, Stream.of(Setting.values()).map(Setting::variable).toList());
  }

  private static String sentence(String name, String meant) {
    return name + " is not a setting and has no effect. Did you mean " + meant + "?";
  }
}
