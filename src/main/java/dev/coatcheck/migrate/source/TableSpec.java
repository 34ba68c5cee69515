package dev.coatcheck.migrate.source;

import java.util.Optional;

/**
 * The request for a table migration, before the plan. Names are compared as they are, case and all.
 *
 * @param createdAtColumn says when a row was made; empty: look for one
 * @param keepPrimaryKey the primary key is to stay where it is
 */
public record TableSpec(
    String schema, String table, Optional<String> createdAtColumn, boolean keepPrimaryKey) {}
