package dev.coatcheck.migrate.inspect;

import dev.coatcheck.migrate.source.Diagnostic;
import java.util.Optional;

/** What goes by the name of a table. */
final class RelationKind {
  private RelationKind() {}

  /** Why it can't get new keys; nothing for an ordinary table. */
  static Optional<Diagnostic> refused(String relkind) {
    return switch (relkind) {
      case "r" -> Optional.empty();
      case "p" ->
          of(
              "partitioned_table",
              "The table is partitioned. Partitioned tables can't be migrated yet.");
      case "v" -> of("view", "The relation is a view. Name the table beneath it.");
      case "m" ->
          of(
              "materialized_view",
              "The relation is a materialized view. Name the table beneath it.");
      case "f" ->
          of("foreign_table", "The rows are on another server. Register that server as a source.");
      case "S" -> of("sequence", "The relation is a sequence. Name the table that uses it.");
      default -> of("not_a_table", "The relation is not a table.");
    };
  }

  private static Optional<Diagnostic> of(String code, String detail) {
    return Optional.of(new Diagnostic(code, detail));
  }
}
