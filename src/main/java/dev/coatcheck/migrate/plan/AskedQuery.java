package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.SqlToken.Kind;
import dev.coatcheck.migrate.source.TableName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The query of a recorded statement, written anew so that the server can be asked what it depends
 * on. The text is that of strangers, so nothing of it is copied that could run:
 *
 * <ul>
 *   <li>It is built from unambiguous tokens, has no semicolon and no comment, and begins like a
 *       query. So any text stays one statement.
 *   <li>Values become NULL. The server reads a literal as soon as it analyses a query, and the
 *       literal of an array or a row of a domain's type runs the check of that domain.
 * </ul>
 */
final class AskedQuery {
  private static final Set<String> FIRST =
      Set.of("select", "with", "insert", "update", "delete", "merge", "values", "table");

  /** Types that stand before their literals, which are recorded as {@code $1}. */
  private static final Set<String> BEFORE_LITERAL =
      Set.of("date", "interval", "time", "timestamp", "timestamptz", "timetz");

  private static final Set<String> NO_CALL = Set.of("by", "cube", "rollup", "sets");

  private static final String OPERATORS = "+-*/<>=~!@#%^&|";
  private static final String SYMBOLS = OPERATORS + "`?,.:()[]";

  private AskedQuery() {}

  /**
   * The ways to write it, to be tried in turn; empty where a statement runs no query, or can't be
   * written so. In the list of GROUP BY literals are recorded as they were, but as {@code $1} where
   * the same expression is selected: {@code select x + $1 … group by x + 1}. So what fails with
   * numbers is tried without them, but for numbers that stand alone, as in {@code group by 1}.
   */
  static List<String> of(SqlStatement statement) {
    List<SqlToken> query = query(statement.tokens());
    boolean isQuery =
        query.stream()
            .filter(token -> !token.isSymbol("("))
            .findFirst()
            .filter(first -> first.kind() == Kind.WORD && FIRST.contains(first.text()))
            .isPresent();
    return isQuery
        ? Stream.of(query, withoutNumbers(query))
            .map(AskedQuery::written)
            .flatMap(Optional::stream)
            .distinct()
            .toList()
        : List.of();
  }

  /** The query inside a COPY, DECLARE, PREPARE or CREATE. */
  private static List<SqlToken> query(List<SqlToken> tokens) {
    SqlToken first = SqlToken.at(tokens, 0);
    if (first.is("copy") && SqlToken.at(tokens, 1).isSymbol("(")) {
      return tokens.subList(1, closing(tokens, 1) + 1);
    }
    if (first.is("declare")) {
      return after(tokens, "for");
    }
    return first.is("prepare") || first.is("create") ? after(tokens, "as") : tokens;
  }

  private static int closing(List<SqlToken> tokens, int opening) {
    int depth = 0;
    for (int i = opening; i < tokens.size(); i++) {
      depth += tokens.get(i).isSymbol("(") ? 1 : 0;
      depth -= tokens.get(i).isSymbol(")") ? 1 : 0;
      if (depth == 0) {
        return i;
      }
    }
    return tokens.size() - 1;
  }

  private static List<SqlToken> after(List<SqlToken> tokens, String word) {
    for (int i = 0; i < tokens.size(); i++) {
      if (tokens.get(i).is(word)) {
        return tokens.subList(i + 1, tokens.size());
      }
    }
    return List.of();
  }

  private static List<SqlToken> withoutNumbers(List<SqlToken> tokens) {
    Deque<Integer> open = new ArrayDeque<>();
    List<SqlToken> without = new ArrayList<>();
    for (int i = 0; i < tokens.size(); i++) {
      SqlToken token = tokens.get(i);
      if (token.isSymbol("(")) {
        open.push(i);
      } else if (token.isSymbol(")") && !open.isEmpty()) {
        open.pop();
      }
      boolean isOperand =
          token.kind() == Kind.NUMBER
              && (isOperator(SqlToken.at(tokens, i - 1))
                  || isOperator(SqlToken.at(tokens, i + 1))
                  || (!open.isEmpty() && isCall(tokens, open.element())));
      without.add(
          isOperand
              ? new SqlToken(Kind.PARAMETER, token.text(), token.start(), token.end())
              : token);
    }
    return without;
  }

  private static boolean isOperator(SqlToken token) {
    return token.kind() == Kind.SYMBOL
        && !token.text().isEmpty()
        && OPERATORS.indexOf(token.text().charAt(0)) >= 0;
  }

  /** Not the length in the name of a type, nor a list of positions. */
  private static boolean isCall(List<SqlToken> tokens, int opening) {
    SqlToken name = SqlToken.at(tokens, opening - 1);
    SqlToken before = SqlToken.at(tokens, opening - 2);
    return name.isName()
        && !NO_CALL.contains(name.text())
        && !before.isSymbol("::")
        && !before.is("as");
  }

  private static Optional<String> written(List<SqlToken> tokens) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < tokens.size(); i++) {
      SqlToken token = tokens.get(i);
      Optional<String> word = word(token);
      if (word.isEmpty()) {
        return Optional.empty();
      }
      if (isApart(SqlToken.at(tokens, i - 1), token)) {
        text.append(' ');
      }
      boolean isTyped = token.kind() == Kind.WORD && BEFORE_LITERAL.contains(token.text());
      if (isTyped && isValue(SqlToken.at(tokens, i + 1))) {
        text.append("null::");
        i++;
      }
      text.append(word.get());
    }
    return Optional.of(text.toString())
        .filter(all -> all.indexOf(';') < 0 && !all.contains("--") && !all.contains("/*"));
  }

  /** Only the characters of operators and of numbers belong together. */
  private static boolean isApart(SqlToken before, SqlToken token) {
    return before.end() != token.start() || !isPart(before) || !isPart(token);
  }

  private static boolean isPart(SqlToken token) {
    return token.kind() == Kind.SYMBOL || token.kind() == Kind.NUMBER;
  }

  private static boolean isValue(SqlToken token) {
    return token.kind() == Kind.STRING || token.kind() == Kind.PARAMETER;
  }

  private static Optional<String> word(SqlToken token) {
    String text = token.text();
    return switch (token.kind()) {
      case STRING, PARAMETER -> Optional.of("null");
      case QUOTED -> Optional.of(TableName.quoted(text));
      case WORD -> Optional.of(text.matches("[a-z_][a-z0-9_$]*") ? text : TableName.quoted(text));
      case NUMBER -> Optional.of(text).filter(number -> number.matches("[0-9a-zA-Z_]+"));
      // The driver takes a question mark for a value of ours.
      case SYMBOL ->
          text.chars().allMatch(c -> SYMBOLS.indexOf(c) >= 0)
              ? Optional.of(text.replace("?", "??"))
              : Optional.empty();
    };
  }
}
