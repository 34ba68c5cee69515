package dev.coatcheck.cluster.grant;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A segment as Postgres has it.
 *
 * @param granted how many numbers were granted, or skipped
 * @param remaining how many were not
 * @param step how many the last grant had
 * @param grantedAt when that was; null if there was none
 */
public record SegmentState(
    SegmentDefinition definition,
    long granted,
    long remaining,
    int step,
    @Nullable Instant grantedAt) {}
