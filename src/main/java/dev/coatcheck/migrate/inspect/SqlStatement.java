package dev.coatcheck.migrate.inspect;

import dev.coatcheck.migrate.inspect.Token.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One statement as far as its words tell: which tables it uses, and where it writes {@code *} for
 * all columns. It knows the clauses of statements and their parentheses, but no grammar, so that
 * the bodies of functions in any procedural language of Postgres can be read too.
 */
final class SqlStatement {
  private static final Set<String> BEFORE_TABLE =
      Set.of("from", "join", "into", "update", "using", "only", "lateral", "copy", "truncate");

  /** Words that can't be the alias of a table. */
  private static final Set<String> NO_ALIAS =
      Set.of(
          "where",
          "join",
          "left",
          "right",
          "inner",
          "outer",
          "full",
          "cross",
          "natural",
          "on",
          "using",
          "set",
          "group",
          "order",
          "having",
          "limit",
          "offset",
          "window",
          "union",
          "intersect",
          "except",
          "for",
          "returning",
          "values",
          "select",
          "from",
          "into",
          "loop",
          "then",
          "tablesample",
          "when",
          "do",
          "default",
          "overriding",
          "with",
          "fetch",
          "to");

  /** As it was written. */
  final String text;

  final List<Token> tokens;
  final List<Use> uses = new ArrayList<>();
  final List<Star> stars = new ArrayList<>();

  /** A table as a statement names it; its schema if that is said. */
  record Name(Optional<String> schema, String table) {}

  /** What a table is in a statement. */
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
   * @param target what a RETURNING returns rows of
   */
  record Star(
      Optional<String> of,
      boolean isReturning,
      Optional<Use> target,
      int select,
      int group,
      int level) {}

  private enum Clause {
    NONE,
    SELECT,
    FROM,
    TARGET,
    VALUES,
    RETURNING,
    GROUP_BY,
    ON,
    OTHER
  }

  /** Parentheses, or all that is outside of them. */
  private static final class Scope {
    private final int group;
    private final int level;
    private int select;
    private Clause clause;
    private Role role = Role.READ;
    private Optional<Use> target = Optional.empty();
    private boolean isDistinctOn;

    /** Where the list after DISTINCT ON begins. */
    private int firstItem = -1;

    private Scope(int group, int level, int select, Clause clause) {
      this.group = group;
      this.level = level;
      this.select = select;
      this.clause = clause;
    }
  }

  private static final Token NONE = new Token(Kind.SYMBOL, "", 0, 0);

  private final Deque<Scope> scopes = new ArrayDeque<>();
  private final List<Integer> grouped = new ArrayList<>();
  private final Set<Integer> united = new HashSet<>();
  private int counter;

  private SqlStatement(String all, List<Token> tokens) {
    this.text =
        tokens.isEmpty() ? "" : all.substring(tokens.getFirst().start(), tokens.getLast().end());
    this.tokens = List.copyOf(tokens);
    scopes.push(new Scope(0, 0, 0, Clause.NONE));
    int at = 0;
    while (at < this.tokens.size()) {
      at = read(at);
    }
  }

  /** The statements of a text, or of the body of a function. */
  static List<SqlStatement> all(String text) {
    List<SqlStatement> statements = new ArrayList<>();
    List<Token> part = new ArrayList<>();
    for (Token token : Token.of(text)) {
      if (token.isSymbol(";")) {
        statements.add(new SqlStatement(text, part));
        part.clear();
      } else {
        part.add(token);
      }
    }
    statements.add(new SqlStatement(text, part));
    statements.removeIf(statement -> statement.tokens.isEmpty());
    return statements;
  }

  boolean has(String word) {
    return tokens.stream().anyMatch(token -> token.is(word));
  }

  /** Words one after another. */
  boolean has(List<String> words) {
    for (int i = 0; i + words.size() <= tokens.size(); i++) {
      int from = i;
      int same = 0;
      while (same < words.size() && tokens.get(from + same).is(words.get(same))) {
        same++;
      }
      if (same == words.size()) {
        return true;
      }
    }
    return false;
  }

  /** Names in lists of GROUP BY. */
  List<String> groupedBy() {
    return grouped.stream().map(at -> tokens.get(at).text()).toList();
  }

  /** Whether a group holds a UNION or its like. */
  boolean isUnited(int group) {
    return united.contains(group);
  }

  Token at(int index) {
    return index >= 0 && index < tokens.size() ? tokens.get(index) : NONE;
  }

  private int read(int at) {
    Token token = tokens.get(at);
    Scope scope = scopes.element();
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
      grouped.add(at);
    }
    return at + 1;
  }

  private void open(int at, Scope scope) {
    Token before = at(at - 1);
    boolean isQuery = at(at + 1).is("select") || at(at + 1).is("with");
    boolean isJoin =
        scope.clause == Clause.FROM
            && !isQuery
            && (before.is("from")
                || before.is("join")
                || before.isSymbol(",")
                || before.isSymbol("("));
    if (isJoin) {
      Scope inner = new Scope(scope.group, scope.level, scope.select, Clause.FROM);
      scopes.push(inner);
    } else if (scope.clause == Clause.GROUP_BY) {
      scopes.push(new Scope(scope.group, scope.level, scope.select, Clause.GROUP_BY));
    } else if (scope.clause == Clause.VALUES && (before.is("values") || before.isSymbol(","))) {
      scopes.push(new Scope(scope.group, scope.level, scope.select, Clause.VALUES));
    } else {
      boolean isInserted = isQuery && scope.clause == Clause.TARGET;
      Scope inner =
          new Scope(++counter, isInserted ? scope.level : scope.level + 1, ++counter, Clause.NONE);
      inner.isDistinctOn = before.is("on") && at(at - 2).is("distinct");
      scopes.push(inner);
    }
  }

  private void close(int at) {
    if (scopes.size() > 1 && scopes.pop().isDistinctOn) {
      scopes.element().firstItem = at + 1;
    }
  }

  private boolean isTableHere(int at, Scope scope) {
    Token before = at(at - 1);
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

  private int table(int at, Scope scope) {
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
    if (at(after).isSymbol("*")) {
      after++;
    }
    if (at(after).is("as")) {
      after++;
    }
    Optional<String> alias = Optional.empty();
    boolean isAlias =
        at(after).kind() == Kind.QUOTED
            || (at(after).kind() == Kind.WORD && !NO_ALIAS.contains(at(after).text()));
    if (isAlias) {
      alias = Optional.of(tokens.get(after).text());
      after++;
    }
    Use use =
        new Use(
            new Name(schema, tokens.get(last).text()),
            alias,
            scope.role,
            scope.select,
            scope.group,
            scope.level);
    uses.add(use);
    if (scope.role != Role.READ) {
      scope.target = Optional.of(use);
      scope.role = Role.READ;
    }
    return after;
  }

  private void keyword(int at, Scope scope) {
    Token before = at(at - 1);
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

  private void star(int at, Scope scope) {
    boolean isReturning = scope.clause == Clause.RETURNING;
    boolean isList = isReturning || scope.clause == Clause.SELECT || scope.clause == Clause.VALUES;
    int first = at;
    Optional<String> of = Optional.empty();
    if (at(at - 1).isSymbol(".")) {
      boolean isInParentheses = at(at - 2).isSymbol(")");
      Token name = isInParentheses ? at(at - 3) : at(at - 2);
      first = at - (isInParentheses ? 4 : 2);
      while (at(first - 1).isSymbol(".") && at(first - 2).isName()) {
        first -= 2;
      }
      of = Optional.of(name.text());
    }
    Token after = at(at + 1);
    boolean isCompared = after.is("is") || after.isSymbol("=") || after.isSymbol("<");
    if (isList && !isCompared && isItem(first, scope)) {
      stars.add(new Star(of, isReturning, scope.target, scope.select, scope.group, scope.level));
    }
  }

  /** Whether an entry of a list begins here. */
  private boolean isItem(int at, Scope scope) {
    Token before = at(at - 1);
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
