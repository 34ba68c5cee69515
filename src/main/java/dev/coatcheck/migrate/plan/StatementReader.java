package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.SqlScope.Clause;
import dev.coatcheck.migrate.plan.SqlStatement.Name;
import dev.coatcheck.migrate.plan.SqlStatement.Role;
import dev.coatcheck.migrate.plan.SqlStatement.Star;
import dev.coatcheck.migrate.plan.SqlStatement.Use;
import dev.coatcheck.migrate.plan.SqlToken.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Reads one statement, word by word, in one pass. It knows the clauses of statements and their
 * parentheses, but no grammar: so it also reads the bodies of functions in any procedural language
 * of Postgres, statements that were cut off, and those in which {@code $1} stands for a constant.
 */
final class StatementReader {
  private static final Set<String> BEFORE_TABLE =
      words("from join into update using only lateral copy truncate");

  /** Words that can't be the alias of a table. */
  private static final Set<String> NO_ALIAS =
      words(
          "where join left right inner outer full cross natural on using set group order having"
              + " limit offset window union intersect except for returning values select from into"
              + " loop then tablesample when do default overriding with fetch to");

  private final List<SqlToken> tokens;
  private final List<Use> uses = new ArrayList<>();
  private final List<Star> stars = new ArrayList<>();
  private final List<String> groupedBy = new ArrayList<>();
  private final Set<Integer> united = new HashSet<>();
  private final Deque<SqlScope> scopes = new ArrayDeque<>();
  private int counter;

  private StatementReader(List<SqlToken> tokens) {
    this.tokens = tokens;
    scopes.push(new SqlScope(0, 0, 0, Clause.NONE));
  }

  /**
   * @param text from the first of its tokens to the last
   */
  static SqlStatement read(String text, List<SqlToken> tokens) {
    StatementReader reader = new StatementReader(List.copyOf(tokens));
    for (int at = 0; at < tokens.size(); ) {
      at = reader.read(at);
    }
    return new SqlStatement(
        text, reader.tokens, reader.uses, reader.stars, reader.groupedBy, reader.united);
  }

  private SqlToken at(int index) {
    return SqlToken.at(tokens, index);
  }

  private static Set<String> words(String words) {
    return Set.of(words.split(" ", -1));
  }

  private int read(int at) {
    SqlToken token = tokens.get(at);
    SqlScope scope = scopes.element();
    if (token.isSymbol("(")) {
      open(at, scope);
    } else if (token.isSymbol(")")) {
      close(at);
    } else if (token.isSymbol(",") && scope.clause == Clause.ON) {
      scope.clause = Clause.FROM;
    } else if (token.isSymbol("*")) {
      star(at, scope);
    } else if (token.isName() && isTableHere(at, scope)) {
      return table(at, scope);
    } else if (token.kind() == Kind.WORD && !at(at - 1).isSymbol(".")) {
      keyword(at, scope);
    }
    if (token.isName() && scope.clause == Clause.GROUP_BY) {
      groupedBy.add(token.text());
    }
    return at + 1;
  }

  private void open(int at, SqlScope scope) {
    SqlToken before = at(at - 1);
    boolean isQuery = at(at + 1).is("select") || at(at + 1).is("with");
    boolean isJoin =
        scope.clause == Clause.FROM
            && !isQuery
            && (before.is("from")
                || before.is("join")
                || before.isSymbol(",")
                || before.isSymbol("("));
    if (isJoin) {
      scopes.push(scope.grouping(Clause.FROM));
    } else if (scope.clause == Clause.GROUP_BY) {
      scopes.push(scope.grouping(Clause.GROUP_BY));
    } else if (scope.clause == Clause.VALUES && (before.is("values") || before.isSymbol(","))) {
      scopes.push(scope.grouping(Clause.VALUES));
    } else {
      boolean isInserted = isQuery && scope.clause == Clause.TARGET;
      SqlScope inner =
          new SqlScope(
              ++counter, isInserted ? scope.level : scope.level + 1, ++counter, Clause.NONE);
      inner.isDistinctOn = before.is("on") && at(at - 2).is("distinct");
      scopes.push(inner);
    }
  }

  private void close(int at) {
    if (scopes.size() > 1 && scopes.pop().isDistinctOn) {
      scopes.element().firstItem = at + 1;
    }
  }

  private boolean isTableHere(int at, SqlScope scope) {
    SqlToken before = at(at - 1);
    if (at(at).is("only") || at(at).is("lateral") || at(at).is("select") || at(at).is("table")) {
      return false;
    }
    return switch (scope.clause) {
      case FROM ->
          before.isSymbol(",")
              || before.isSymbol("(")
              || (before.kind() == Kind.WORD && BEFORE_TABLE.contains(before.text()));
      case TARGET -> before.kind() == Kind.WORD && BEFORE_TABLE.contains(before.text());
      default -> false;
    };
  }

  private int table(int at, SqlScope scope) {
    int last = at;
    while (at(last + 1).isSymbol(".") && at(last + 2).isName()) {
      last += 2;
    }
    int after = last + 1;
    if (at(after).isSymbol("(") && scope.clause == Clause.FROM) {
      return after;
    }
    Optional<String> schema =
        last == at ? Optional.empty() : Optional.of(tokens.get(last - 2).text());
    after += at(after).isSymbol("*") ? 1 : 0;
    after += at(after).is("as") ? 1 : 0;
    Optional<String> alias = Optional.empty();
    boolean isAlias =
        at(after).kind() == Kind.QUOTED
            || (at(after).kind() == Kind.WORD && !NO_ALIAS.contains(at(after).text()));
    if (isAlias) {
      alias = Optional.of(tokens.get(after).text());
      after++;
    }
    Use use = scope.use(new Name(schema, tokens.get(last).text()), alias);
    uses.add(use);
    if (scope.role != Role.READ) {
      scope.target = Optional.of(use);
      scope.role = Role.READ;
    }
    return after;
  }

  private void keyword(int at, SqlScope scope) {
    SqlToken before = at(at - 1);
    switch (tokens.get(at).text()) {
      case "select", "perform" -> {
        scope.select = ++counter;
        scope.clause = Clause.SELECT;
      }
      case "insert", "merge", "copy", "truncate" -> {
        scope.role = Role.INSERTED;
        scope.clause = Clause.TARGET;
      }
      case "into" ->
          scope.clause = before.is("insert") || before.is("merge") ? Clause.TARGET : Clause.OTHER;
      case "delete" -> {
        scope.role = Role.CHANGED;
        scope.clause = Clause.TARGET;
      }
      case "update" -> {
        if (!before.is("for") && !before.is("do") && !before.is("key")) {
          scope.role = Role.CHANGED;
          scope.clause = Clause.TARGET;
        }
      }
      case "from" -> {
        if (!before.is("distinct") && scope.clause != Clause.NONE) {
          scope.clause = Clause.FROM;
        }
      }
      case "join" -> scope.clause = Clause.FROM;
      case "using" -> {
        if (!at(at + 1).isSymbol("(") && scope.clause != Clause.NONE) {
          scope.clause = Clause.FROM;
        }
      }
      case "values" -> scope.clause = Clause.VALUES;
      case "returning" -> scope.clause = Clause.RETURNING;
      case "by" -> scope.clause = before.is("group") ? Clause.GROUP_BY : Clause.OTHER;
      case "on" -> scope.clause = scope.clause == Clause.FROM ? Clause.ON : scope.clause;
      case "union", "intersect", "except" -> {
        united.add(scope.group);
        scope.clause = Clause.OTHER;
      }
      case "set", "where", "having", "order", "limit", "offset", "window", "loop", "then" ->
          scope.clause = scope.clause == Clause.NONE ? Clause.NONE : Clause.OTHER;
      default -> {}
    }
  }

  private void star(int at, SqlScope scope) {
    boolean isReturning = scope.clause == Clause.RETURNING;
    boolean isList = isReturning || scope.clause == Clause.SELECT || scope.clause == Clause.VALUES;
    int first = at;
    Optional<String> of = Optional.empty();
    if (at(at - 1).isSymbol(".")) {
      boolean isInParentheses = at(at - 2).isSymbol(")");
      SqlToken name = isInParentheses ? at(at - 3) : at(at - 2);
      first = at - (isInParentheses ? 4 : 2);
      while (at(first - 1).isSymbol(".") && at(first - 2).isName()) {
        first -= 2;
      }
      of = Optional.of(name.text());
    }
    SqlToken after = at(at + 1);
    boolean isCompared = after.is("is") || after.isSymbol("=") || after.isSymbol("<");
    if (isList && !isCompared && isItem(first, scope)) {
      stars.add(scope.star(of, isReturning));
    }
  }

  /** Whether an entry of a list begins here. */
  private boolean isItem(int at, SqlScope scope) {
    SqlToken before = at(at - 1);
    return before.isSymbol(",")
        || before.is("select")
        || before.is("perform")
        || before.is("distinct")
        || before.is("all")
        || before.is("returning")
        || (before.isSymbol("(") && scope.clause == Clause.VALUES)
        || at == scope.firstItem;
  }
}
