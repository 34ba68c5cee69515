package dev.coatcheck.cluster.change;

/**
 * A change that was committed.
 *
 * @param number without gaps in the feed, in the order of commits
 * @param subject what changed, as {@link ChangeKind} says
 */
public record Change(long number, ChangeKind kind, String subject) {}
