package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.SurveyStore.Column;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.Target;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Chooses the column with the creation time of a row. */
final class TimeColumns {
  private static final Set<String> TYPES = Set.of("timestamptz", "timestamp", "date");
  private static final Set<String> USUAL =
      Set.of("created_at", "createdat", "created", "inserted_at");

  private TimeColumns() {}

  /** A choice and a word about it, or why there can be none. */
  sealed interface Choice {
    record Made(Optional<Target.TimeColumn> column, Diagnostic note) implements Choice {}

    record Refused(Diagnostic diagnostic) implements Choice {}
  }

  static Choice choose(List<Column> columns, Optional<String> wished) {
    return wished.map(name -> named(columns, name)).orElseGet(() -> usual(columns));
  }

  private static Choice named(List<Column> columns, String name) {
    Optional<Column> found = columns.stream().filter(each -> each.name().equals(name)).findFirst();
    if (found.isEmpty()) {
      return new Choice.Refused(
          new Diagnostic(
              "created_at_unknown",
              "The table has no column named %s, letter by letter. Name another column, or none."
                  .formatted(name)));
    }
    if (!TYPES.contains(found.get().type())) {
      return new Choice.Refused(
          new Diagnostic(
              "created_at_type",
              "The column %s has the type %s. Name a column of type timestamptz, timestamp or date, or none."
                  .formatted(name, found.get().type())));
    }
    return made(found.get(), "as you said");
  }

  private static Choice usual(List<Column> columns) {
    List<Column> fitting =
        columns.stream()
            .filter(each -> USUAL.contains(each.name().toLowerCase(Locale.ROOT)))
            .filter(each -> TYPES.contains(each.type()))
            .toList();
    if (fitting.size() == 1) {
      return made(fitting.getFirst(), "found by its name; name another column if this is wrong");
    }
    String why =
        fitting.isEmpty()
            ? "No column with a usual name has the time at which a row was made"
            : "Several columns may have the time at which a row was made ("
                + Diagnostic.listed(fitting.stream().map(Column::name).toList(), ", ")
                + ")";
    return new Choice.Made(
        Optional.empty(),
        new Diagnostic(
            "created_at",
            why
                + ". The run uses no column: new keys keep the order of the old keys, but their"
                + " times lie at the epoch of the layout. Name a column to keep its times."));
  }

  private static Choice made(Column column, String how) {
    return new Choice.Made(
        Optional.of(new Target.TimeColumn(column.name(), column.type())),
        new Diagnostic(
            "created_at",
            "The column %s has the time at which a row was made (%s)%s."
                .formatted(
                    column.name(),
                    how,
                    column.type().equals("timestamptz")
                        ? ""
                        : ". Its type is " + column.type() + ", which is read as UTC")));
  }
}
