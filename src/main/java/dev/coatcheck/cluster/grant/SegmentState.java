package dev.coatcheck.cluster.grant;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A segment as Postgres stores it.
 *
 * @param granted how many numbers were granted or skipped
 * @param remaining how many are left
 * @param step the size of the last grant
 * @param grantedAt the time of the last grant; null if there was none
 */
public record SegmentState(
    SegmentDefinition definition,
    long granted,
    long remaining,
    int step,
    @Nullable Instant grantedAt) {}
