package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.SqlStatement.Role;
import dev.coatcheck.migrate.plan.SqlStatement.Use;
import dev.coatcheck.migrate.plan.SqlToken.Kind;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Recognises statements that depend on the number of the table's columns. With one column more they
 * fail at every call, until they are rewritten. Views, rules and functions with BEGIN ATOMIC go on
 * working: Postgres replaced their stars by columns when they were created.
 */
final class RowShape {
  private static final String INSERTS =
      "name the columns on both sides: insert into x (a, b) select t.a, t.b";
  private static final String UNITES = "name the columns on each side of the union";
  private static final String BUILDS =
      "builds a row from too few values; add one more, or use jsonb_populate_record";

  private final Statements statements;

  RowShape(Statements statements) {
    this.statements = statements;
  }

  /**
   * What is wrong with a statement of an application, and how to mend it.
   *
   * @param rows names that stand for a row of the table within a function
   */
  Optional<String> remedy(SqlStatement statement, Set<String> rows) {
    if (insertsAll(statement, rows)) {
      return Optional.of(INSERTS);
    }
    if (unitesAll(statement)) {
      return Optional.of(UNITES);
    }
    return buildsRow(statement) ? Optional.of(BUILDS) : Optional.empty();
  }

  /** Whether a star says how many columns are inserted somewhere else. */
  private boolean insertsAll(SqlStatement statement, Set<String> rows) {
    Set<Integer> levels =
        statement.uses().stream()
            .filter(use -> use.role() == Role.INSERTED && !statements.isOurs(use.name()))
            .map(Use::level)
            .collect(Collectors.toSet());
    if (levels.isEmpty()) {
      return false;
    }
    Set<String> queries = queries(statement);
    Set<Integer> ofTables =
        statement.uses().stream()
            .filter(use -> !queries.contains(use.name().table()))
            .map(Use::select)
            .collect(Collectors.toSet());
    boolean takesAll = statements.takesAllColumns(statement);
    return statement.stars().stream()
        .filter(star -> !star.isReturning() && levels.contains(star.level()))
        .anyMatch(
            star ->
                star.of().filter(rows::contains).isPresent()
                    || statements.isOurs(statement, star)
                    || (takesAll && !ofTables.contains(star.select())));
  }

  private static Set<String> queries(SqlStatement statement) {
    Set<String> names = new HashSet<>();
    for (int i = 0; i < statement.tokens().size(); i++) {
      boolean isFirst = statement.at(i - 1).is("with") || statement.at(i - 1).is("recursive");
      if (statement.at(i).isName()
          && statement.at(i + 1).is("as")
          && (isFirst || statement.at(i - 1).isSymbol(","))) {
        names.add(statement.at(i).text());
      }
    }
    return names;
  }

  private boolean unitesAll(SqlStatement statement) {
    return statement.stars().stream()
        .filter(star -> !star.isReturning() && statement.isUnited(star.group()))
        .filter(star -> statements.isOurs(statement, star))
        .anyMatch(
            star ->
                statement.uses().stream()
                    .anyMatch(
                        use -> use.group() == star.group() && !statements.isOurs(use.name())));
  }

  /** A row of the table out of values or of text: {@code row(1, 2)::t}. */
  private boolean buildsRow(SqlStatement statement) {
    for (int i = 0; i < statement.tokens().size(); i++) {
      boolean isCast = statement.at(i).isSymbol("::") || statement.at(i).is("as");
      if (isCast
          && statements.isOursAt(statement, i + 1)
          && (statement.at(i).isSymbol("::") || isInCast(statement, i))
          && isBuilt(statement, i - 1)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isInCast(SqlStatement statement, int as) {
    int depth = 0;
    for (int i = as - 1; i >= 0 && depth >= 0; i--) {
      if (statement.at(i).isSymbol(")")) {
        depth++;
      } else if (statement.at(i).isSymbol("(") && --depth < 0) {
        return statement.at(i - 1).is("cast");
      }
    }
    return false;
  }

  /** Whether what ends here is a text, a value of the application's, or values in parentheses. */
  private static boolean isBuilt(SqlStatement statement, int end) {
    SqlToken last = statement.at(end);
    if (last.kind() == Kind.STRING || last.kind() == Kind.PARAMETER) {
      return true;
    }
    int depth = 0;
    boolean isList = false;
    for (int i = end; i >= 0; i--) {
      SqlToken token = statement.at(i);
      if (token.isSymbol(")")) {
        depth++;
      } else if (token.isSymbol("(") && --depth == 0) {
        SqlToken before = statement.at(i - 1);
        boolean isCall = before.isName() && !before.is("select") && !before.is("return");
        return before.is("row") || (isList && !isCall);
      } else if (depth == 0) {
        return false;
      }
      isList |= depth == 1 && token.isSymbol(",");
    }
    return false;
  }
}
