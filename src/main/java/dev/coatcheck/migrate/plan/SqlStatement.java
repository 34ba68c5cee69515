package dev.coatcheck.migrate.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One statement, as far as its words tell: the tables it uses, and where it writes {@code *} for
 * all columns.
 *
 * @param text as it was written
 * @param groupedBy names in lists of GROUP BY
 * @param united the groups that hold a UNION, INTERSECT or EXCEPT
 */
record SqlStatement(
    String text,
    List<SqlToken> tokens,
    List<Use> uses,
    List<Star> stars,
    List<String> groupedBy,
    Set<Integer> united) {
  SqlStatement {
    uses = List.copyOf(uses);
    stars = List.copyOf(stars);
    groupedBy = List.copyOf(groupedBy);
    united = Set.copyOf(united);
  }

  /** A table as a statement names it; its schema if that is said. */
  record Name(Optional<String> schema, String table) {}

  enum Role {
    READ,
    INSERTED,
    CHANGED
  }

  /**
   * A table in a statement.
   *
   * @param select the SELECT that it belongs to
   * @param group the parentheses that it stands in; a UNION lies within one group
   * @param level how deep they are
   */
  record Use(Name name, Optional<String> alias, Role role, int select, int group, int level) {}

  /**
   * A {@code *} for all columns.
   *
   * @param of what stands before the dot
   * @param target the table whose rows a RETURNING returns
   */
  record Star(
      Optional<String> of,
      boolean isReturning,
      Optional<Use> target,
      int select,
      int group,
      int level) {}

  /** The statements of a text, or of the body of a function. */
  static List<SqlStatement> all(String text) {
    List<SqlStatement> statements = new ArrayList<>();
    List<SqlToken> part = new ArrayList<>();
    for (SqlToken token : SqlToken.of(text)) {
      if (token.isSymbol(";")) {
        add(statements, text, part);
        part.clear();
      } else {
        part.add(token);
      }
    }
    add(statements, text, part);
    return statements;
  }

  private static void add(List<SqlStatement> statements, String text, List<SqlToken> part) {
    if (!part.isEmpty()) {
      String own = text.substring(part.getFirst().start(), part.getLast().end());
      statements.add(StatementReader.read(own, part));
    }
  }

  boolean has(String word) {
    return tokens.stream().anyMatch(token -> token.is(word));
  }

  boolean isUnited(int group) {
    return united.contains(group);
  }

  SqlToken at(int index) {
    return SqlToken.at(tokens, index);
  }

  Name nameAt(int index) {
    return isQualified(index)
        ? new Name(Optional.of(at(index).text()), at(index + 2).text())
        : new Name(Optional.empty(), at(index).text());
  }

  int afterName(int index) {
    return index + (isQualified(index) ? 3 : 1);
  }

  private boolean isQualified(int index) {
    return at(index + 1).isSymbol(".");
  }
}
