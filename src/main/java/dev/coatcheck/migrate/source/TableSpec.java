package dev.coatcheck.migrate.source;

import java.util.Optional;

/**
 * The request for a table migration, before the plan. Names are case-sensitive.
 *
 * @param createdAtColumn with the creation time of a row; if empty, the plan looks for one
 * @param keepPrimaryKey whether the primary key stays on its column
 */
public record TableSpec(
    String schema, String table, Optional<String> createdAtColumn, boolean keepPrimaryKey) {}
