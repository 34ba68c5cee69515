package dev.coatcheck.migrate.inspect;

import dev.coatcheck.migrate.inspect.SqlStatement.Role;
import dev.coatcheck.migrate.inspect.SqlStatement.Use;
import dev.coatcheck.migrate.inspect.Token.Kind;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Recognises what depends on how many columns the table has, and so fails for good once it has one
 * more: with every call, until somebody rewrites it. What Postgres kept in parsed form (views,
 * rules, functions with BEGIN ATOMIC) had its stars replaced by columns when it was made, and goes
 * on working.
 */
final class RowShape {
  private static final String TAKES =
      "takes a row of the table; calls that build that row, as in f(row(1, 2)), need one more"
          + " value, and calls with f(t) go on working";
  private static final String RETURNS =
      "returns rows of the table from a list of columns; return select t.*, or named columns with"
          + " returns table (…)";
  private static final String RETURNS_COLUMNS =
      "returns named columns from *; name them in its query";
  private static final String INSERTS =
      "name the columns on both sides: insert into x (a, b) select t.a, t.b";
  private static final String UNITES = "name the columns on each side of the union";
  private static final String BUILDS =
      "builds a row from too few values; add one more, or use jsonb_populate_record";

  private static final Set<String> BEGINNINGS =
      Set.of("with", "insert", "merge", "select", "return", "execute", "perform");

  private final Statements statements;

  RowShape(Statements statements) {
    this.statements = statements;
  }

  /** What is wrong with a statement of an application, and how to mend it. */
  Optional<String> remedy(SqlStatement statement) {
    return remedy(statement, Set.of());
  }

  /** Each part of a function that fails, with its remedy. */
  List<String> found(AppFunction function) {
    List<SqlStatement> body = SqlStatement.all(function.body());
    Set<String> rows = rows(function, body);
    List<String> found = new ArrayList<>();
    if (!function.isParsed()) {
      for (SqlStatement statement : body) {
        remedy(statement, rows)
            .or(() -> dynamic(statement).flatMap(text -> remedy(text, rows)))
            .ifPresent(remedy -> found.add(excerpt(statement) + ": " + remedy));
      }
    }
    if (function.returnsRow() && !returnsStar(function, body)) {
      found.add(RETURNS);
    }
    if (function.returnsColumns() && !function.isParsed() && returnsStarAsColumns(function, body)) {
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

  private Optional<String> remedy(SqlStatement statement, Set<String> rows) {
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
        statement.uses.stream()
            .filter(use -> use.role() == Role.INSERTED && !statements.isOurs(use.name()))
            .map(Use::level)
            .collect(Collectors.toSet());
    if (levels.isEmpty()) {
      return false;
    }
    Set<String> queries = queries(statement);
    Set<Integer> ofTables =
        statement.uses.stream()
            .filter(use -> !queries.contains(use.name().table()))
            .map(Use::select)
            .collect(Collectors.toSet());
    boolean takesAll = statements.takesAllColumns(statement);
    return statement.stars.stream()
        .filter(star -> !star.isReturning() && levels.contains(star.level()))
        .anyMatch(
            star ->
                star.of().filter(rows::contains).isPresent()
                    || statements.isOurs(statement, star)
                    || (takesAll && !ofTables.contains(star.select())));
  }

  /** Names of the queries in WITH. */
  private static Set<String> queries(SqlStatement statement) {
    Set<String> names = new HashSet<>();
    for (int i = 0; i < statement.tokens.size(); i++) {
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
    return statement.stars.stream()
        .filter(star -> !star.isReturning() && statement.isUnited(star.group()))
        .filter(star -> statements.isOurs(statement, star))
        .anyMatch(
            star ->
                statement.uses.stream()
                    .anyMatch(
                        use -> use.group() == star.group() && !statements.isOurs(use.name())));
  }

  /** A row of the table out of values or of text: {@code row(1, 2)::t}. */
  private boolean buildsRow(SqlStatement statement) {
    for (int i = 0; i < statement.tokens.size(); i++) {
      boolean isCast = statement.at(i).isSymbol("::") || statement.at(i).is("as");
      if (isCast
          && isOurType(statement, i + 1)
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

  private boolean isOurType(SqlStatement statement, int at) {
    if (!statement.at(at).isName()) {
      return false;
    }
    boolean isQualified = statement.at(at + 1).isSymbol(".");
    return statements.isOurs(
        isQualified
            ? new SqlStatement.Name(
                Optional.of(statement.at(at).text()), statement.at(at + 2).text())
            : new SqlStatement.Name(Optional.empty(), statement.at(at).text()));
  }

  /** Whether what ends here is a text, a value of the application's, or values in parentheses. */
  private static boolean isBuilt(SqlStatement statement, int end) {
    Token last = statement.at(end);
    if (last.kind() == Kind.STRING || last.kind() == Kind.PARAMETER) {
      return true;
    }
    int depth = 0;
    boolean isList = false;
    for (int i = end; i >= 0; i--) {
      Token token = statement.at(i);
      if (token.isSymbol(")")) {
        depth++;
      } else if (token.isSymbol("(") && --depth == 0) {
        Token before = statement.at(i - 1);
        boolean isCall = before.isName() && !before.is("select") && !before.is("return");
        return before.is("row") || (isList && !isCall);
      } else if (depth == 0) {
        return false;
      }
      isList |= depth == 1 && token.isSymbol(",");
    }
    return false;
  }

  /** What a statement puts together in strings, if it hands a row on to that. */
  private static Optional<SqlStatement> dynamic(SqlStatement statement) {
    String text =
        statement.tokens.stream()
            .filter(token -> token.kind() == Kind.STRING)
            .map(Token::text)
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
      for (int i = 0; i + 1 < statement.tokens.size(); i++) {
        boolean isRow =
            (isOurType(statement, i + 1) && isDeclaration(statement, i + 1))
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
    int end = statement.at(type + 1).isSymbol(".") ? type + 3 : type + 1;
    Token after = statement.at(end);
    return end >= statement.tokens.size()
        || after.isSymbol("%")
        || after.isSymbol(":=")
        || after.isSymbol("=");
  }

  /** Whether all that a function returns comes from {@code *} of the table, so that it grows. */
  private boolean returnsStar(AppFunction function, List<SqlStatement> body) {
    if (function.isParsed()) {
      return false;
    }
    return switch (function.language()) {
      case "sql" -> !body.isEmpty() && statements.takesAllColumns(body.getLast());
      case "plpgsql" -> body.stream().filter(RowShape::returnsQuery).allMatch(this::growsWithTable);
      default -> false;
    };
  }

  private static boolean returnsQuery(SqlStatement statement) {
    int at = returnAt(statement);
    return at >= 0
        && (statement.at(at + 1).is("query")
            || statement.at(at + 1).is("row")
            || statement.at(at + 1).isSymbol("("));
  }

  private static int returnAt(SqlStatement statement) {
    for (int i = 0; i < statement.tokens.size(); i++) {
      if (statement.at(i).is("return")) {
        return i;
      }
    }
    return -1;
  }

  private boolean growsWithTable(SqlStatement statement) {
    return statement.has("query") && statements.takesAllColumns(statement);
  }

  private boolean returnsStarAsColumns(AppFunction function, List<SqlStatement> body) {
    return switch (function.language()) {
      case "sql" -> !body.isEmpty() && statements.takesAllColumns(body.getLast());
      case "plpgsql" -> body.stream().filter(RowShape::returnsQuery).anyMatch(this::growsWithTable);
      default -> false;
    };
  }

  /** From where its SQL begins, without the IF or the LOOP before. */
  private static String excerpt(SqlStatement statement) {
    int from =
        statement.tokens.stream()
            .filter(token -> token.kind() == Kind.WORD && BEGINNINGS.contains(token.text()))
            .findFirst()
            .map(token -> token.start() - statement.tokens.getFirst().start())
            .orElse(0);
    return Preconditions.excerpt(statement.text.substring(from));
  }
}
