package dev.coatcheck.migrate.inspect;

import dev.coatcheck.migrate.source.TableName;
import java.util.Locale;
import java.util.regex.Matcher;
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

  private static final Pattern GROUP_BY = Pattern.compile("\\bgroup\\s+by\\b", FLAGS);
  private static final Pattern LIST_END =
      Pattern.compile("\\b(having|order|limit|window|union)\\b|[;)]", FLAGS);

  private final Pattern table;
  private final Pattern copy;
  private final Pattern key;
  private final Pattern onConstraint;

  Statements(TableName table, String key, String constraint) {
    this.table = Pattern.compile(identifier(table.table()), FLAGS);
    this.copy =
        Pattern.compile(
            "\\bcopy\\s+([^\\s(]+\\.)?" + identifier(table.table()) + "\\s+from\\b", FLAGS);
    this.key = Pattern.compile(identifier(key), FLAGS);
    this.onConstraint = Pattern.compile("\\bon\\s+constraint\\s+" + identifier(constraint), FLAGS);
  }

  /** All columns of the table, as many as there are. */
  boolean takesAllColumns(String statement) {
    return table.matcher(statement).find() && STAR.matcher(statement).find();
  }

  boolean copiesWithoutColumns(String statement) {
    return copy.matcher(statement).find();
  }

  /** List by list, each read once: a pattern for it all would take the square of the length. */
  boolean groupsByKey(String statement) {
    if (!table.matcher(statement).find()) {
      return false;
    }
    Matcher list = GROUP_BY.matcher(statement);
    Matcher end = LIST_END.matcher(statement);
    Matcher column = key.matcher(statement).useTransparentBounds(true);
    for (int at = 0; list.find(at); ) {
      at = end.find(list.end()) ? end.start() : statement.length();
      if (column.region(list.end(), at).find()) {
        return true;
      }
    }
    return false;
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
