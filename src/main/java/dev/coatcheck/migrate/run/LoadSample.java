package dev.coatcheck.migrate.run;

import java.time.Instant;
import java.util.Optional;

/**
 * What a runner saw of a backfill and of its source, every five seconds.
 *
 * @param rowsDone of the run until then
 * @param replicaLagSeconds of the slowest replica; empty without a replica
 * @param walBytes the position in the WAL that the source had written; empty if it was not asked
 * @param reason why the run waited
 */
public record LoadSample(
    Instant at,
    long rowsDone,
    Optional<Long> replicaLagSeconds,
    Optional<Long> walBytes,
    Optional<String> reason) {}
