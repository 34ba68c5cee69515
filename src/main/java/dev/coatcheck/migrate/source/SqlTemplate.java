package dev.coatcheck.migrate.source;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The text of statements about a customer's table, with placeholders for the names of one run:
 * {@code <table>} is the text that {@link TargetSql} has for this name, {@code <'table'>} is that
 * text as a string literal, and {@code <body>} is the quotes around the body of a function, which
 * no name in it can end.
 *
 * <p>A statement that writes, locks or defines something is in a {@code .sql} file beside the class
 * that sends it. Each statement of a file ends with a line that ends in {@code ;}. Comments before
 * a statement are for readers of the file, and are not sent.
 */
public record SqlTemplate(List<String> statements) {
  private static final Pattern PLACEHOLDER = Pattern.compile("<('?)([a-z_]+)\\1>");
  private static final String BODY = "<body>";

  public SqlTemplate {
    statements = List.copyOf(statements);
  }

  /**
   * The statements of a file.
   *
   * @param beside a class in the same folder
   */
  public static SqlTemplate file(Class<?> beside, String name) {
    try (InputStream in = beside.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("no file " + name + " beside " + beside);
      }
      return new SqlTemplate(statements(new String(in.readAllBytes(), StandardCharsets.UTF_8)));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static List<String> statements(String file) {
    List<String> statements = new ArrayList<>();
    StringBuilder statement = new StringBuilder();
    boolean isInBody = false;
    for (String line : file.lines().toList()) {
      boolean isBetween = statement.isEmpty() && (line.isBlank() || line.startsWith("--"));
      if (!isBetween) {
        isInBody ^= line.split(BODY, -1).length % 2 == 0;
        statement.append(line).append('\n');
        if (!isInBody && line.endsWith(";")) {
          statements.add(statement.substring(0, statement.length() - ";\n".length()));
          statement.setLength(0);
        }
      }
    }
    if (!statement.isEmpty()) {
      throw new IllegalStateException("a statement has no end: " + statement);
    }
    return statements;
  }

  /** The same with another text at {@code <name>}, which may itself contain names. */
  public SqlTemplate with(String name, String text) {
    return new SqlTemplate(
        statements.stream().map(statement -> statement.replace("<" + name + ">", text)).toList());
  }

  /** The only statement, without names filled in. */
  public String text() {
    if (statements.size() != 1) {
      throw new IllegalStateException(statements.size() + " statements, not one: " + statements);
    }
    return statements.getFirst();
  }

  /** A statement with the names filled in. Nothing inside a name counts as a placeholder. */
  static String fill(String statement, Map<String, String> names) {
    return PLACEHOLDER
        .matcher(statement)
        .replaceAll(
            placeholder -> {
              String text = names.get(placeholder.group(2));
              if (text == null) {
                throw new IllegalArgumentException("no name for " + placeholder.group());
              }
              return Matcher.quoteReplacement(
                  placeholder.group(1).isEmpty() ? text : TableName.literal(text));
            });
  }
}
