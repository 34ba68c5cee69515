package dev.coatcheck.migrate.inspect;

import java.util.Optional;

/** What goes by the name of a table. */
final class RelationKind {
  private RelationKind() {}

  /** Why it can't get new keys; nothing for an ordinary table. */
  static Optional<Diagnostic> refused(String relkind) {
    return switch (relkind) {
      case "r" -> Optional.empty();
      case "p" ->
          of("partitioned_table", "It is partitioned. Partitioned tables can't be migrated yet.");
      case "v" -> of("view", "It is a view. Name the table beneath it.");
      case "m" -> of("materialized_view", "It is a materialized view. Name the table beneath it.");
      case "f" -> of("foreign_table", "Its rows lie in another server. Make that one a source.");
      case "S" -> of("sequence", "It is a sequence. Name the table that it counts for.");
      default -> of("not_a_table", "It is no table.");
    };
  }

  private static Optional<Diagnostic> of(String code, String detail) {
    return Optional.of(new Diagnostic(code, detail));
  }
}
