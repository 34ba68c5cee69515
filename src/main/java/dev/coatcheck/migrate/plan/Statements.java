package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.SqlStatement.Name;
import dev.coatcheck.migrate.plan.SqlStatement.Role;
import dev.coatcheck.migrate.plan.SqlStatement.Star;
import dev.coatcheck.migrate.plan.SqlStatement.Use;
import dev.coatcheck.migrate.source.TableName;
import java.util.Optional;
import java.util.Set;

/**
 * Recognises statements of applications that the migration of one table would break. It judges by
 * words and clauses, not by a grammar: it may name a statement that is harmless, and it misses
 * statements that are put together at run time.
 */
final class Statements {
  /** What the bodies of triggers and of ON CONFLICT call a row. */
  private static final Set<String> ROWS = Set.of("new", "old", "excluded");

  private static final Set<String> STRICT = Set.of("repeatable", "serializable");

  private static final Set<String> END_OF_SET = Set.of("where", "from", "returning", "when", "set");

  private final TableName table;
  private final String key;
  private final String constraint;

  /**
   * Judges by a table.
   *
   * @param key the column of its primary key
   * @param constraint the primary key itself
   */
  Statements(TableName table, String key, String constraint) {
    this.table = table;
    this.key = key;
    this.constraint = constraint;
  }

  boolean isOurs(Name name) {
    return name.table().equals(table.table())
        && name.schema().map(schema -> schema.equals(table.schema())).orElse(true);
  }

  /** Whether the name of the table begins at an index. */
  boolean isOursAt(SqlStatement statement, int index) {
    return statement.at(index).isName() && isOurs(statement.nameAt(index));
  }

  boolean mentions(SqlStatement statement) {
    return statement.uses().stream().anyMatch(use -> isOurs(use.name()));
  }

  /** Whether it takes all columns of the table, as many as there are. */
  boolean takesAllColumns(SqlStatement statement) {
    return statement.stars().stream().anyMatch(star -> isOurs(statement, star));
  }

  /** Whether a star stands for columns of the table itself, not of a query over it. */
  boolean isOurs(SqlStatement statement, Star star) {
    if (star.of().isPresent()) {
      return named(statement, star.of().get()).filter(use -> isOurs(use.name())).isPresent();
    }
    if (star.isReturning()) {
      boolean isTarget = star.target().filter(use -> isOurs(use.name())).isPresent();
      boolean isRead =
          star.target().filter(use -> use.role() == Role.CHANGED).isPresent()
              && statement.uses().stream()
                  .anyMatch(use -> use.group() == star.group() && isOurs(use.name()));
      return isTarget || isRead;
    }
    return statement.uses().stream()
        .anyMatch(
            use -> use.role() == Role.READ && use.select() == star.select() && isOurs(use.name()));
  }

  /** What an alias, or the name of a table, means in a statement. */
  static Optional<Use> named(SqlStatement statement, String name) {
    return statement.uses().stream()
        .filter(use -> use.alias().orElse(use.name().table()).equals(name))
        .findFirst();
  }

  boolean copiesWithoutColumns(SqlStatement statement) {
    for (int i = 0; i < statement.tokens().size(); i++) {
      if (statement.at(i).is("copy")
          && isOursAt(statement, i + 1)
          && statement.at(statement.afterName(i + 1)).is("from")) {
        return true;
      }
    }
    return false;
  }

  /** Whether it empties the table, or gives the key of a row a value. */
  boolean changesKeys(SqlStatement statement) {
    boolean changes =
        statement.uses().stream().anyMatch(use -> use.role() != Role.READ && isOurs(use.name()));
    for (int i = 0; i < statement.tokens().size(); i++) {
      boolean does =
          (statement.at(i).is("truncate") && truncates(statement, i + 1))
              || (changes && statement.at(i).is("set") && setsKey(statement, i + 1));
      if (does) {
        return true;
      }
    }
    return false;
  }

  /** Whether the table is in the list that begins at an index. */
  private boolean truncates(SqlStatement statement, int first) {
    int at = first + (statement.at(first).is("table") ? 1 : 0);
    while (true) {
      at += statement.at(at).is("only") ? 1 : 0;
      if (isOursAt(statement, at) || !statement.at(at).isName()) {
        return isOursAt(statement, at);
      }
      at = statement.afterName(at);
      at += statement.at(at).isSymbol("*") ? 1 : 0;
      if (!statement.at(at).isSymbol(",")) {
        return false;
      }
      at++;
    }
  }

  /** Whether the key is a column of the SET that begins at an index. */
  private boolean setsKey(SqlStatement statement, int first) {
    int depth = 0;
    boolean isColumn = true;
    for (int i = first; i < statement.tokens().size() && depth >= 0; i++) {
      SqlToken token = statement.at(i);
      if (isColumn && token.isName() && token.text().equals(key)) {
        return true;
      }
      if (depth == 0 && END_OF_SET.contains(token.text()) && token.kind() == SqlToken.Kind.WORD) {
        return false;
      }
      if (token.isSymbol("=")) {
        isColumn = false;
      } else if (token.isSymbol("(")) {
        depth++;
      } else if (token.isSymbol(")")) {
        depth--;
      } else if (depth == 0 && token.isSymbol(",")) {
        isColumn = true;
      }
    }
    return false;
  }

  /**
   * Whether it names the key of the table: qualified, or alone where the table is used. A name that
   * is given to an expression names no column.
   */
  boolean namesKey(SqlStatement statement) {
    for (int i = 0; i < statement.tokens().size(); i++) {
      SqlToken token = statement.at(i);
      boolean isCall = statement.at(i + 1).isSymbol("(");
      if (token.isName() && token.text().equals(key) && !isCall && isOfOurs(statement, i)) {
        return true;
      }
    }
    return false;
  }

  private boolean isOfOurs(SqlStatement statement, int index) {
    SqlToken before = statement.at(index - 1);
    if (!before.isSymbol(".")) {
      return !before.is("as") && mentions(statement);
    }
    String qualifier = statement.at(index - 2).text();
    return named(statement, qualifier)
        .map(use -> isOurs(use.name()))
        .orElseGet(() -> ROWS.contains(qualifier));
  }

  boolean groupsByKey(SqlStatement statement) {
    return mentions(statement) && statement.groupedBy().contains(key);
  }

  boolean namesPrimaryKey(SqlStatement statement) {
    for (int i = 0; i < statement.tokens().size(); i++) {
      if (statement.at(i).is("conflict")
          && statement.at(i + 1).is("on")
          && statement.at(i + 2).is("constraint")
          && statement.at(i + 3).isName()
          && statement.at(i + 3).text().equals(constraint)) {
        return true;
      }
    }
    return false;
  }

  /** Whether it asks for the last value of whichever sequence was used last. */
  static boolean asksForLastval(SqlStatement statement) {
    return statement.has("lastval");
  }

  /**
   * Whether it asks for transactions that fail where a row was changed since they began.
   * Transactions that only read never fail so, and the value of a session's default is recorded as
   * {@code $1}.
   */
  static boolean isolates(SqlStatement statement) {
    boolean asks = false;
    for (int i = 0; i < statement.tokens().size(); i++) {
      if (statement.at(i).is("read") && statement.at(i + 1).is("only")) {
        return false;
      }
      asks |=
          statement.at(i).is("default_transaction_isolation")
              || (statement.at(i).is("isolation")
                  && statement.at(i + 1).is("level")
                  && STRICT.contains(statement.at(i + 2).text()));
    }
    return asks;
  }
}
