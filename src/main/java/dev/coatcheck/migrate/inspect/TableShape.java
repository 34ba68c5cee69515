package dev.coatcheck.migrate.inspect;

import dev.coatcheck.migrate.source.Target;
import java.util.List;
import java.util.Optional;

/**
 * A table that can get new keys.
 *
 * @param keyType {@code smallint}, {@code integer} or {@code bigint}
 * @param highestId 0 for an empty table
 * @param rows exact for a small table, else an estimate, which the notes then say
 * @param bytes with indexes
 * @param olderThanEpoch rows that were made before the layout's epoch; as exact as {@code rows}
 * @param estimate of what a run takes
 * @param preconditions what applications have to be ready for
 * @param children over all schemas
 */
public record TableShape(
    long oid,
    String keyColumn,
    String keyType,
    Optional<Target.TimeColumn> createdAt,
    long highestId,
    long rows,
    long bytes,
    long olderThanEpoch,
    Estimate estimate,
    List<Precondition> preconditions,
    List<Diagnostic> notes,
    List<ForeignKey> children) {}
