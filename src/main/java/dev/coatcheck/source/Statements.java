package dev.coatcheck.source;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Recognises statements of applications that the migration of a table would break. By their words,
 * not by a grammar: it may name one too many, and what is put together at run time escapes it.
 */
final class Statements {
  private static final int FLAGS =
      Pattern.CASE_INSENSITIVE
          | Pattern.UNICODE_CASE
          | Pattern.UNICODE_CHARACTER_CLASS
          | Pattern.DOTALL;

  private static final Pattern PLAIN =
      Pattern.compile("[\\p{L}_][\\p{L}\\p{N}_$]*", Pattern.UNICODE_CHARACTER_CLASS);
  private static final Pattern STAR =
      Pattern.compile(
          "(\\bselect|\\bdistinct|\\ball|\\breturning|,)\\s*([\\w$\"]+\\s*\\.\\s*)?\\*", FLAGS);

  private final Pattern table;
  private final Pattern copy;
  private final Pattern groupBy;
  private final Pattern onConstraint;

  Statements(TableName table, String key, String constraint) {
    this.table = Pattern.compile(identifier(table.table()), FLAGS);
    this.copy =
        Pattern.compile(
            "\\bcopy\\s+([^\\s(]+\\.)?" + identifier(table.table()) + "\\s+from\\b", FLAGS);
    this.groupBy =
        Pattern.compile(
            "\\bgroup\\s+by\\s((?!\\b(having|order|limit|window|union)\\b)[^;)])*?"
                + identifier(key),
            FLAGS);
    this.onConstraint = Pattern.compile("\\bon\\s+constraint\\s+" + identifier(constraint), FLAGS);
  }

  /** All columns of the table, as many as there are. */
  boolean takesAllColumns(String statement) {
    return table.matcher(statement).find() && STAR.matcher(statement).find();
  }

  boolean copiesWithoutColumns(String statement) {
    return copy.matcher(statement).find();
  }

  boolean groupsByKey(String statement) {
    return table.matcher(statement).find() && groupBy.matcher(statement).find();
  }

  boolean namesPrimaryKey(String statement) {
    return onConstraint.matcher(statement).find();
  }

  /** A name as a word of its own: in quotes, or as it is where it needs none. */
  private static String identifier(String name) {
    String quoted = "(?<!\")" + Pattern.quote(TableName.quoted(name)) + "(?!\")";
    boolean isPlain = PLAIN.matcher(name).matches() && name.equals(name.toLowerCase(Locale.ROOT));
    return isPlain
        ? "(" + quoted + "|(?<![\\w$\"])" + Pattern.quote(name) + "(?![\\w$\"]))"
        : quoted;
  }
}
