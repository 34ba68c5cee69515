package dev.coatcheck.cluster.audit;

import java.time.Instant;

/**
 * An entry of the audit.
 *
 * @param number without gaps, in the order of commits
 * @param at never before that of an entry with a lower number
 */
public record RecordedEntry(long number, Instant at, AuditEntry entry) {}
