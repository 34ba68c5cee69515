package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.Target;
import java.util.List;
import java.util.Optional;

/**
 * A table that can get new keys.
 *
 * @param keyType {@code smallint}, {@code integer} or {@code bigint}
 * @param highestId 0 for an empty table
 * @param preconditions what applications have to be ready for
 */
public record TableShape(
    long oid,
    String keyColumn,
    String keyType,
    Optional<Target.TimeColumn> createdAt,
    long highestId,
    TableSize size,
    List<Precondition> preconditions,
    List<Diagnostic> notes) {}
