package dev.coatcheck.migrate.plan;

import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.source.SearchPath;
import java.util.Optional;

/**
 * A table, and what its rows are to become.
 *
 * @param applicationPath of the sessions that write to it; empty: that of its owner's settings
 */
public record PlanRequest(
    String source,
    String schema,
    String table,
    Type type,
    Optional<String> createdAtColumn,
    boolean keepPrimaryKey,
    Optional<SearchPath> applicationPath) {
  /** With the search path of its owner's settings. */
  public PlanRequest(
      String source,
      String schema,
      String table,
      Type type,
      Optional<String> createdAtColumn,
      boolean keepPrimaryKey) {
    this(source, schema, table, type, createdAtColumn, keepPrimaryKey, Optional.empty());
  }
}
