package dev.coatcheck.migrate.source;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The schemas in which the application's sessions look up unqualified names, in this order. The
 * table's triggers, checks and index functions were written for it.
 *
 * @param schemas names as the catalog has them; {@code $user} is the schema of the current user
 */
public record SearchPath(List<String> schemas) {
  /** The default of Postgres. */
  public static final SearchPath USUAL = new SearchPath(List.of("$user", "public"));

  /** Only Postgres's own names, which are always visible. */
  private static final SearchPath NONE = new SearchPath(List.of("pg_catalog"));

  private static final int SCHEMAS_MAX = 100;

  public SearchPath {
    schemas = List.copyOf(schemas);
  }

  /**
   * Parses a search path in the syntax of {@code SET} and {@code SHOW}: names between commas, in
   * double quotes if they contain anything but lower-case letters, digits, {@code _} and {@code $}.
   *
   * @return empty if it is malformed
   */
  public static Optional<SearchPath> parse(String text) {
    if (text.isBlank() || text.strip().equals("\"\"")) {
      return Optional.of(NONE);
    }
    List<String> schemas = new ArrayList<>();
    int at = 0;
    do {
      Optional<Name> name = name(text, skipBlanks(text, at));
      if (name.isEmpty() || !isName(name.get().text()) || schemas.size() == SCHEMAS_MAX) {
        return Optional.empty();
      }
      schemas.add(name.get().text());
      at = skipBlanks(text, name.get().end()) + 1;
    } while (at <= text.length() && text.charAt(at - 1) == ',');
    return at == text.length() + 1 ? Optional.of(new SearchPath(schemas)) : Optional.empty();
  }

  private record Name(String text, int end) {}

  private static Optional<Name> name(String text, int start) {
    if (start < text.length() && text.charAt(start) == '"') {
      return quoted(text, start);
    }
    int end = start;
    while (end < text.length() && isPlain(text.charAt(end))) {
      end++;
    }
    return Optional.of(new Name(text.substring(start, end).toLowerCase(Locale.ROOT), end));
  }

  private static Optional<Name> quoted(String text, int start) {
    StringBuilder name = new StringBuilder();
    for (int at = start + 1; at < text.length(); at++) {
      if (text.charAt(at) != '"') {
        name.append(text.charAt(at));
      } else if (text.startsWith("\"\"", at)) {
        name.append('"');
        at++;
      } else {
        return Optional.of(new Name(name.toString(), at + 1));
      }
    }
    return Optional.empty();
  }

  private static boolean isPlain(char character) {
    return character == '_' || character == '$' || Character.isLetterOrDigit(character);
  }

  private static boolean isName(String name) {
    return !name.isEmpty()
        && name.indexOf('\0') < 0
        && ObjectNames.bytes(name) <= ObjectNames.BYTES_MAX;
  }

  private static int skipBlanks(String text, int start) {
    int at = start;
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return at;
  }

  /** The path with a role's name filled in, for a session of another role. */
  public SearchPath of(String role) {
    return new SearchPath(
        schemas.stream().map(schema -> schema.equals("$user") ? role : schema).toList());
  }

  /** The quoted path, for {@code SET} and {@link #parse}. */
  public String text() {
    return schemas.stream().map(TableName::quoted).collect(Collectors.joining(", "));
  }
}
