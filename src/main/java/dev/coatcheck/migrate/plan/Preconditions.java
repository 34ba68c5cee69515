package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.AppObjects.UpdateTrigger;
import dev.coatcheck.migrate.plan.RecordedStatements.Recorded;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Searches what is known of a table's applications for what a migration would break. */
final class Preconditions {
  private static final Precondition KEYS_AS_STRINGS =
      new Precondition(
          "keys_as_strings",
          "New keys exceed 2^53, which a double can't hold: clients have to take them as strings,"
              + " and columns that copy them have to be bigint.",
          List.of());

  private static final String COLUMN_GRANTS = "column_grants";

  private static final String KEY_CHANGES = "key_changes";

  /** What doesn't matter to a child, or is done there without a precondition. */
  private static final Set<String> OF_TABLE = Set.of(COLUMN_GRANTS, KEY_CHANGES);

  private static final String HOLDS_ROWS =
      "holds rows of the table; statements that build such a row, as in row(1, 2), need one more"
          + " value";

  private static final int EXCERPT_MAX = 100;

  private final Statements statements;
  private final RecordedStatements recorded;
  private final List<Sent> sent;
  private final AppObjects objects;

  private Preconditions(Statements statements, RecordedStatements recorded, AppObjects objects) {
    this.statements = statements;
    this.recorded = recorded;
    this.sent = recorded.statements().stream().flatMap(Sent::first).toList();
    this.objects = objects;
  }

  /** Those that apply, by what is known of the applications. */
  static List<Precondition> of(
      Statements statements,
      RecordedStatements recorded,
      AppObjects objects,
      boolean keepPrimaryKey) {
    return new Preconditions(statements, recorded, objects).preconditions(keepPrimaryKey);
  }

  /** A column whose type leaves little room is altered sooner or later. */
  static Precondition typeStays(String keyColumn, String keyType) {
    return new Precondition(
        "key_type_stays",
        "Postgres alters the type of no column that a trigger names, so ALTER … TYPE of the key, or"
            + " of a column that refers to the key, fails during the run: alter the type before"
            + " the start, or undo the run from expand on first; its keys are kept for the next"
            + " run.",
        List.of("column " + keyColumn + " of the type " + keyType));
  }

  /**
   * The same with what a child adds: it gets a column too, and its rows are filled. The roles that
   * have grants on its columns get the same grants on the new column.
   */
  static List<Precondition> with(
      List<Precondition> ofTable,
      Statements child,
      RecordedStatements recorded,
      AppObjects objects) {
    Map<String, Precondition> all = new LinkedHashMap<>();
    ofTable.forEach(one -> all.put(one.code(), one));
    new Preconditions(child, recorded, objects)
        .preconditions(true).stream()
            .filter(one -> !OF_TABLE.contains(one.code()))
            .forEach(one -> all.merge(one.code(), one, Precondition::and));
    return List.copyOf(all.values());
  }

  /** What fails for good when the number of columns changes, if anything does. */
  static Optional<Precondition> rowShape(
      Statements statements, RecordedStatements recorded, AppObjects objects) {
    return new Preconditions(statements, recorded, objects).rowShape();
  }

  /** A recorded statement, with the server's answer whether it needs the primary key. */
  private record Sent(SqlStatement statement, Optional<Boolean> needsKey) {
    static Stream<Sent> first(Recorded recorded) {
      return SqlStatement.all(recorded.text()).stream()
          .limit(1)
          .map(statement -> new Sent(statement, recorded.needsKey()));
    }

    /** By the answer, and by its words where the server wasn't asked. */
    boolean needsKey(String word, Predicate<SqlStatement> words) {
      return needsKey
          .map(needs -> needs && statement.has(word))
          .orElseGet(() -> words.test(statement));
    }
  }

  private List<Precondition> preconditions(boolean keepPrimaryKey) {
    List<Precondition> preconditions = new ArrayList<>();
    preconditions.add(KEYS_AS_STRINGS);
    rowShape().ifPresent(preconditions::add);
    search(
            "prepared_star",
            "Prepared SELECT * and RETURNING * fail once the column is added, until they are"
                + " prepared again: name the columns, or let the drivers try again.",
            statements::takesAllColumns)
        .ifPresent(preconditions::add);
    search(
            "copy_without_columns",
            "COPY … FROM without a list of columns fails once the column is added: name them.",
            statements::copiesWithoutColumns)
        .ifPresent(preconditions::add);
    search(
            "serialization_failures",
            "A transaction in REPEATABLE READ or SERIALIZABLE that changes a row which the backfill"
                + " has filled since the transaction began fails with 40001: repeat it.",
            Statements::isolates)
        .ifPresent(preconditions::add);
    search(
            "lastval",
            "lastval() gives no row's ID from the start on, because the triggers of the run draw"
                + " from sequences of their own: use RETURNING, or currval with the name of the"
                + " sequence.",
            Statements::asksForLastval)
        .ifPresent(preconditions::add);
    search(
            KEY_CHANGES,
            "From the start to contract, or to the undo of the run, TRUNCATE of the table fails,"
                + " and so does an UPDATE that gives the key of a row another value: delete rows"
                + " instead, and leave their keys as they are.",
            statements::changesKeys)
        .ifPresent(preconditions::add);
    if (!keepPrimaryKey) {
      searchKey(
              "group_by_key",
              "GROUP BY the old key with other columns beside it fails once the primary key has"
                  + " moved: group by those columns too.",
              "group",
              statements::groupsByKey)
          .ifPresent(preconditions::add);
      searchKey(
              "on_conflict_on_constraint",
              "ON CONFLICT ON CONSTRAINT with the primary key's name means the new key once it has"
                  + " moved: name the column instead.",
              "constraint",
              statements::namesPrimaryKey)
          .ifPresent(preconditions::add);
    }
    columnGrants().ifPresent(preconditions::add);
    UpdateTrigger.precondition(objects.updateTriggers()).ifPresent(preconditions::add);
    return List.copyOf(preconditions);
  }

  /** What fails for good, each with its remedy. */
  private Optional<Precondition> rowShape() {
    RowShape shape = new RowShape(statements);
    FunctionShape functions = new FunctionShape(statements, shape);
    List<String> found = new ArrayList<>();
    for (Sent one : sent) {
      shape
          .remedy(one.statement(), Set.of())
          .ifPresent(remedy -> found.add(excerpt(one.statement().text()) + ": " + remedy));
    }
    objects.functions().forEach(function -> found.addAll(functions.found(function)));
    objects.rowColumns().forEach(column -> found.add("column " + column + ": " + HOLDS_ROWS));
    return precondition(
        "row_shape",
        "Code that depends on the number of columns fails for good once the column is added:"
            + " rewrite each entry before the start.",
        found);
  }

  private Optional<Precondition> search(String code, String sentence, Predicate<SqlStatement> is) {
    return search(code, sentence, one -> is.test(one.statement()), is);
  }

  /** Searches for what needs the primary key and has a word. */
  private Optional<Precondition> searchKey(
      String code, String sentence, String word, Predicate<SqlStatement> words) {
    return search(code, sentence, one -> one.needsKey(word, words), words);
  }

  private Optional<Precondition> search(
      String code, String sentence, Predicate<Sent> isSent, Predicate<SqlStatement> is) {
    List<String> found = new ArrayList<>();
    sent.stream()
        .filter(isSent)
        .map(one -> excerpt(one.statement().text()))
        .distinct()
        .forEach(found::add);
    objects.functions().stream()
        .filter(function -> SqlStatement.all(function.body()).stream().anyMatch(is))
        .map(function -> "function " + function.name())
        .forEach(found::add);
    return precondition(code, sentence, found);
  }

  /** Applies if something was found, or if not everything could be searched. */
  private Optional<Precondition> precondition(String code, String sentence, List<String> found) {
    return found.isEmpty() && recorded.whyNot().isEmpty()
        ? Optional.empty()
        : Optional.of(new Precondition(code, sentence, found, recorded.whyNot()));
  }

  private Optional<Precondition> columnGrants() {
    return objects.grantedColumns().isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Precondition(
                COLUMN_GRANTS,
                "Some roles have grants on single columns. On the new column they get those that"
                    + " they have on the key; without one, their SELECT * and RETURNING * fail:"
                    + " name the columns in these statements.",
                objects.grantedColumns()));
  }

  static String excerpt(String statement) {
    String line = statement.strip().replaceAll("\\s+", " ");
    return "'" + (line.length() > EXCERPT_MAX ? line.substring(0, EXCERPT_MAX) + "…" : line) + "'";
  }
}
