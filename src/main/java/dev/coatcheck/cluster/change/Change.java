package dev.coatcheck.cluster.change;

/**
 * A change that was committed.
 *
 * @param number in the order of commits; without gaps, as long as one server gives them
 * @param subject what changed, as {@link ChangeKind} says
 */
public record Change(long number, ChangeKind kind, String subject) {}
