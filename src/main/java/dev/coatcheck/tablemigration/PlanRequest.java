package dev.coatcheck.tablemigration;

import dev.coatcheck.registry.Type;
import java.util.Optional;

/** A table, and what its rows are to become. */
public record PlanRequest(
    String source,
    String schema,
    String table,
    Type type,
    Optional<String> createdAtColumn,
    boolean keepPrimaryKey) {}
