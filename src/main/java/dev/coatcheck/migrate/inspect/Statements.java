package dev.coatcheck.migrate.inspect;

import dev.coatcheck.migrate.inspect.SqlStatement.Name;
import dev.coatcheck.migrate.inspect.SqlStatement.Role;
import dev.coatcheck.migrate.inspect.SqlStatement.Star;
import dev.coatcheck.migrate.inspect.SqlStatement.Use;
import dev.coatcheck.migrate.source.TableName;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Recognises statements of applications that the migration of a table would break. By their words
 * and clauses, not by a grammar: it may name one too many, and what is put together at run time
 * escapes it.
 */
final class Statements {
  private static final Set<String> STRICT = Set.of("repeatable", "serializable");

  private final TableName table;
  private final String key;
  private final String constraint;

  Statements(TableName table, String key, String constraint) {
    this.table = table;
    this.key = key;
    this.constraint = constraint;
  }

  boolean isOurs(Name name) {
    return name.table().equals(table.table())
        && name.schema().map(schema -> schema.equals(table.schema())).orElse(true);
  }

  boolean mentions(SqlStatement statement) {
    return statement.uses.stream().anyMatch(use -> isOurs(use.name()));
  }

  /** All columns of the table, as many as there are. */
  boolean takesAllColumns(SqlStatement statement) {
    return statement.stars.stream().anyMatch(star -> isOurs(statement, star));
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
              && statement.uses.stream()
                  .anyMatch(use -> use.group() == star.group() && isOurs(use.name()));
      return isTarget || isRead;
    }
    return statement.uses.stream()
        .anyMatch(
            use -> use.role() == Role.READ && use.select() == star.select() && isOurs(use.name()));
  }

  /** What an alias, or the name of a table, means in a statement. */
  static Optional<Use> named(SqlStatement statement, String name) {
    return statement.uses.stream()
        .filter(use -> use.alias().orElse(use.name().table()).equals(name))
        .findFirst();
  }

  boolean copiesWithoutColumns(SqlStatement statement) {
    List<Token> tokens = statement.tokens;
    for (int i = 0; i < tokens.size(); i++) {
      if (tokens.get(i).is("copy")) {
        boolean isQualified = statement.at(i + 2).isSymbol(".");
        Name name =
            isQualified
                ? new Name(Optional.of(statement.at(i + 1).text()), statement.at(i + 3).text())
                : new Name(Optional.empty(), statement.at(i + 1).text());
        if (isOurs(name) && statement.at(i + (isQualified ? 4 : 2)).is("from")) {
          return true;
        }
      }
    }
    return false;
  }

  boolean groupsByKey(SqlStatement statement) {
    return mentions(statement) && statement.groupedBy().contains(key);
  }

  boolean namesPrimaryKey(SqlStatement statement) {
    for (int i = 0; i < statement.tokens.size(); i++) {
      if (statement.at(i).is("on")
          && statement.at(i + 1).is("constraint")
          && statement.at(i + 2).isName()
          && statement.at(i + 2).text().equals(constraint)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Asks for transactions that fail where a row was changed since they began. Those that only read
   * don't, and what a session's default is set to is recorded as {@code $1}.
   */
  static boolean isolates(SqlStatement statement) {
    boolean asks = false;
    for (int i = 0; i < statement.tokens.size(); i++) {
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
