package dev.coatcheck.source;

import java.util.Optional;

public record Wish(
    String schema,
    String table,
    Optional<String> createdAtColumn,
    boolean keepPrimaryKey,
    long layoutEpochMillis) {}
