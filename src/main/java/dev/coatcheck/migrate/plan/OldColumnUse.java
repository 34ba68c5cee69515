package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.AppObjects.AppFunction;
import dev.coatcheck.migrate.plan.RecordedStatements.Recorded;
import dev.coatcheck.migrate.source.SearchPath;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How applications still use the columns of legacy IDs, as far as is known.
 *
 * @param statements that name one of the columns, each with its calls
 * @param functions of the database that name one of the columns, or the sequence of the key
 * @param rowShapes code that fails when a column goes because it counts on their number, each with
 *     its remedy
 * @param notSearched why there may be more
 */
public record OldColumnUse(
    List<CalledStatements.Called> statements,
    List<String> functions,
    List<String> rowShapes,
    Optional<String> notSearched) {

  public OldColumnUse {
    statements = List.copyOf(statements);
    functions = List.copyOf(functions);
    rowShapes = List.copyOf(rowShapes);
  }

  /**
   * A table with such a column.
   *
   * @param column judges by the table and the column
   */
  public record Searched(Statements column, AppObjects objects) {}

  static OldColumnUse of(
      List<Searched> tables, List<String> callersOfSequence, CalledStatements called) {
    List<CalledStatements.Called> statements =
        called.statements().stream()
            .filter(one -> tables.stream().anyMatch(table -> names(table, one.text())))
            .toList();
    List<String> functions = new ArrayList<>(callersOfSequence);
    List<String> shapes = new ArrayList<>();
    RecordedStatements recorded =
        new RecordedStatements(
            called.statements().stream()
                .map(one -> new Recorded(one.text(), SearchPath.USUAL))
                .toList(),
            Optional.empty());
    for (Searched table : tables) {
      table.objects().functions().stream()
          .filter(function -> names(table, function.body()))
          .map(AppFunction::name)
          .forEach(functions::add);
      Preconditions.rowShape(table.column(), recorded, table.objects())
          .ifPresent(shape -> shapes.addAll(shape.found()));
    }
    return new OldColumnUse(
        statements,
        functions.stream().distinct().toList(),
        shapes.stream().distinct().toList(),
        called.whyNot());
  }

  private static boolean names(Searched table, String text) {
    return SqlStatement.all(text).stream().anyMatch(table.column()::namesKey);
  }

  /** What has to be accepted by its code before the columns go. */
  public List<Precondition> preconditions() {
    List<String> found =
        Stream.concat(
                statements.stream()
                    .map(one -> Preconditions.excerpt(one.text()) + " (" + one.calls() + " calls)"),
                functions.stream().map(name -> "function " + name))
            .toList();
    List<Precondition> preconditions = new ArrayList<>();
    if (!found.isEmpty() || notSearched.isPresent()) {
      preconditions.add(
          new Precondition(
              "old_column",
              "Statements that name an old column, or the sequence of the old key, fail once it is"
                  + " gone: name the new column.",
              found,
              notSearched));
    }
    if (!rowShapes.isEmpty()) {
      preconditions.add(
          new Precondition(
              "row_shape",
              "Code that depends on the number of columns fails for good once a column is gone:"
                  + " rewrite each entry.",
              rowShapes));
    }
    return preconditions;
  }
}
