package dev.coatcheck.api.routes.migrations;

import dev.coatcheck.migrate.source.TableName;
import java.util.Optional;

/**
 * A table in a request: {@code orders}, {@code shop.orders} or {@code "My.Schema"."Orders"}. Names
 * are exact: nothing is folded to lower case, and within quotes a double quote is doubled.
 */
public final class TableText {
  private static final String SCHEMA = "public";

  private final String text;
  private int at;

  private TableText(String text) {
    this.text = text;
  }

  /** Empty if the text is not a name, or has more than two parts. */
  public static Optional<TableName> parse(String text) {
    return new TableText(text).parse();
  }

  /** The name in the form of requests. */
  public static String of(TableName name) {
    return plainOrQuoted(name.schema()) + "." + plainOrQuoted(name.table());
  }

  private static String plainOrQuoted(String name) {
    return name.indexOf('.') < 0 && name.indexOf('"') < 0 ? name : TableName.quoted(name);
  }

  private Optional<TableName> parse() {
    Optional<String> first = part(true);
    if (first.isEmpty() || at == text.length()) {
      return first.map(table -> new TableName(SCHEMA, table));
    }
    at++; // the dot
    Optional<String> second = part(false);
    return second.filter(_ -> at == text.length()).map(table -> new TableName(first.get(), table));
  }

  /** The next part of the name: up to a dot, if a dot may follow, or to the end of the text. */
  private Optional<String> part(boolean mayEndWithDot) {
    if (at < text.length() && text.charAt(at) == '"') {
      return quoted().filter(_ -> at == text.length() || (mayEndWithDot && text.charAt(at) == '.'));
    }
    int dot = mayEndWithDot ? text.indexOf('.', at) : -1;
    String name = text.substring(at, dot < 0 ? text.length() : dot);
    at += name.length();
    return Optional.of(name).filter(plain -> !plain.isEmpty() && plain.indexOf('"') < 0);
  }

  private Optional<String> quoted() {
    StringBuilder name = new StringBuilder();
    for (at++; at < text.length(); at++) {
      if (text.charAt(at) == '"') {
        at++;
        if (at == text.length() || text.charAt(at) != '"') {
          return Optional.of(name.toString()).filter(some -> !some.isEmpty());
        }
      }
      name.append(text.charAt(at));
    }
    return Optional.empty();
  }
}
