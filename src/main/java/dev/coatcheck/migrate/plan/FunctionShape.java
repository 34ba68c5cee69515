package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.AppObjects.AppFunction;
import dev.coatcheck.migrate.plan.SqlToken.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Recognises functions that depend on the number of the table's columns, as {@link RowShape}
 * recognises statements.
 */
final class FunctionShape {
  private static final String TAKES =
      "takes a row of the table; calls that build that row, as in f(row(1, 2)), need one more"
          + " value, and calls with f(t) go on working";
  private static final String RETURNS =
      "returns rows of the table from a list of columns; return select t.*, or named columns with"
          + " returns table (…)";
  private static final String RETURNS_COLUMNS =
      "returns named columns from *; name them in its query";

  /** Languages whose RETURN is understood. */
  private static final Set<String> READ = Set.of("sql", "plpgsql");

  private static final Set<String> BEGINNINGS =
      Set.of("with", "insert", "merge", "select", "return", "execute", "perform");

  private final Statements statements;
  private final RowShape shape;

  FunctionShape(Statements statements, RowShape shape) {
    this.statements = statements;
    this.shape = shape;
  }

  /** Each part of a function that fails, with its remedy. */
  List<String> found(AppFunction function) {
    List<SqlStatement> body = SqlStatement.all(function.body());
    Set<String> rows = rows(function, body);
    List<String> found = new ArrayList<>();
    if (!function.isParsed()) {
      for (SqlStatement statement : body) {
        shape
            .remedy(statement, rows)
            .or(() -> dynamic(statement).flatMap(text -> shape.remedy(text, rows)))
            .ifPresent(remedy -> found.add(excerpt(statement) + ": " + remedy));
      }
    }
    List<SqlStatement> returned = returned(function, body);
    boolean isStar =
        !function.isParsed()
            && READ.contains(function.language())
            && returned.stream().allMatch(statement -> isStar(function, statement));
    if (function.returnsRow() && !isStar) {
      found.add(RETURNS);
    }
    if (function.returnsColumns()
        && !function.isParsed()
        && returned.stream().anyMatch(statement -> isStar(function, statement))) {
      found.add(RETURNS_COLUMNS);
    }
    if (!function.rowArguments().isEmpty()) {
      found.add(TAKES);
    }
    String name =
        "function "
            + function.name()
            + (function.triggers().isEmpty()
                ? ""
                : " (trigger " + String.join(", ", function.triggers()) + ")");
    return found.stream().map(what -> name + ": " + what).toList();
  }

  /** What a statement puts together in strings, if it hands a row on to that. */
  private static Optional<SqlStatement> dynamic(SqlStatement statement) {
    String text =
        statement.tokens().stream()
            .filter(token -> token.kind() == Kind.STRING)
            .map(SqlToken::text)
            .collect(Collectors.joining(" x "));
    return SqlStatement.all(text).stream().findFirst();
  }

  /** Names of rows of the table within a function. */
  private Set<String> rows(AppFunction function, List<SqlStatement> body) {
    Set<String> rows = new HashSet<>(function.rowArguments());
    if (!function.triggers().isEmpty()) {
      rows.addAll(List.of("old", "new"));
    }
    boolean hasRecords =
        !function.triggers().isEmpty() || body.stream().anyMatch(statements::takesAllColumns);
    for (SqlStatement statement : body) {
      for (int i = 0; i + 1 < statement.tokens().size(); i++) {
        boolean isRow =
            (statements.isOursAt(statement, i + 1) && isDeclaration(statement, i + 1))
                || (hasRecords && statement.at(i + 1).is("record"));
        if (statement.at(i).isName() && isRow) {
          rows.add(statement.at(i).text());
        }
      }
    }
    if (!rows.isEmpty()) {
      for (int n = 1; n < 10; n++) {
        rows.add("$" + n);
      }
    }
    return rows;
  }

  /** Whether a type ends the statement, or is followed by {@code %rowtype} or a default. */
  private static boolean isDeclaration(SqlStatement statement, int type) {
    int end = statement.afterName(type);
    SqlToken after = statement.at(end);
    return end >= statement.tokens().size()
        || after.isSymbol("%")
        || after.isSymbol(":=")
        || after.isSymbol("=");
  }

  private static List<SqlStatement> returned(AppFunction function, List<SqlStatement> body) {
    return switch (function.language()) {
      case "sql" -> body.subList(Math.max(0, body.size() - 1), body.size());
      case "plpgsql" -> body.stream().filter(FunctionShape::returnsQuery).toList();
      default -> List.of();
    };
  }

  private static boolean returnsQuery(SqlStatement statement) {
    OptionalInt at =
        IntStream.range(0, statement.tokens().size())
            .filter(i -> statement.at(i).is("return"))
            .findFirst();
    return at.isPresent()
        && (statement.at(at.getAsInt() + 1).is("query")
            || statement.at(at.getAsInt() + 1).is("row")
            || statement.at(at.getAsInt() + 1).isSymbol("("));
  }

  /** Whether it returns {@code *} of the table, so that its rows grow with the table. */
  private boolean isStar(AppFunction function, SqlStatement statement) {
    return statements.takesAllColumns(statement)
        && (function.language().equals("sql") || statement.has("query"));
  }

  /** From where its SQL begins, without the IF or the LOOP before. */
  private static String excerpt(SqlStatement statement) {
    int from =
        statement.tokens().stream()
            .filter(token -> token.kind() == Kind.WORD && BEGINNINGS.contains(token.text()))
            .findFirst()
            .map(token -> token.start() - statement.tokens().getFirst().start())
            .orElse(0);
    return Preconditions.excerpt(statement.text().substring(from));
  }
}
