package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.source.Diagnostic;
import java.util.List;
import java.util.Optional;

/**
 * What the catalog tells about the applications of a table.
 *
 * @param updateTriggers those that fire for each row that the backfill fills
 * @param grantedColumns columns with grants of their own
 * @param rowColumns columns of other tables and of composite types that hold rows of the table
 */
record AppObjects(
    List<AppFunction> functions,
    List<UpdateTrigger> updateTriggers,
    List<String> grantedColumns,
    List<String> rowColumns) {
  /**
   * A function of the customer's that uses a table or its row type.
   *
   * @param body at most 100,000 characters of it
   * @param isParsed it was written with BEGIN ATOMIC, so Postgres replaced its stars by columns
   *     when the function was created
   * @param triggers those of the table that call it
   * @param returnsRow it returns the type of the table's rows, or a set or an array of it
   * @param returnsColumns it returns a set of named columns
   * @param rowArguments its arguments of the type of the table's rows, by name or as {@code $1}
   */
  record AppFunction(
      String name,
      String language,
      String body,
      boolean isParsed,
      List<String> triggers,
      boolean returnsRow,
      boolean returnsColumns,
      List<String> rowArguments) {}

  /**
   * A trigger of the customer's that fires for each row that the backfill fills.
   *
   * @param name quoted where that is needed
   * @param definition as Postgres writes it
   * @param isConstraint Postgres replaces no constraint triggers
   */
  record UpdateTrigger(String name, String definition, boolean isConstraint) {
    /** The setting names the run while it fills rows; otherwise it is empty or unset. */
    static final String SLEEPS =
        "coalesce(pg_catalog.current_setting('coatcheck.fill', true), '') = ''";

    private static final String CREATE = "CREATE TRIGGER ";
    private static final String WHEN = " WHEN (";
    private static final String EXECUTE = " EXECUTE FUNCTION ";

    static Optional<Precondition> precondition(List<UpdateTrigger> triggers) {
      if (triggers.isEmpty()) {
        return Optional.empty();
      }
      List<String> names = triggers.stream().map(UpdateTrigger::name).toList();
      return Optional.of(
          new Precondition(
              "update_triggers",
              "Triggers on update will fire once for each row that the backfill fills: "
                  + Diagnostic.listed(names, ", ")
                  + ". Before the start, give a trigger that would do harm, for instance change"
                  + " last_update or fill an audit table, a WHEN clause that disables it during the"
                  + " backfill. Any session can disable such a trigger, so remove the clause after"
                  + " the run, and do not add it to an audit that must always work.",
              triggers.stream().map(UpdateTrigger::remedy).toList()));
    }

    /** The statement that disables it while rows are filled. */
    private String remedy() {
      int execute = definition.lastIndexOf(EXECUTE);
      if (isConstraint || !definition.startsWith(CREATE) || execute < 0) {
        return name + ": drop it, and create it again when (" + SLEEPS + ");";
      }
      int when = definition.indexOf(WHEN);
      String condition =
          when < 0
              ? SLEEPS
              : SLEEPS + " and " + definition.substring(when + WHEN.length() - 1, execute);
      return "create or replace trigger "
          + definition.substring(CREATE.length(), when < 0 ? execute : when)
          + " when ("
          + condition
          + ")"
          + definition.substring(execute)
          + ";";
    }
  }
}
