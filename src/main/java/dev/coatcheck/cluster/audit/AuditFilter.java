package dev.coatcheck.cluster.audit;

import java.time.Instant;
import java.util.Optional;

/**
 * Which entries of the audit are wanted; what is empty admits all.
 *
 * @param from the first time
 * @param to the time before which entries end
 */
public record AuditFilter(
    Optional<String> subject,
    Optional<String> actor,
    Optional<String> action,
    Optional<Instant> from,
    Optional<Instant> to) {

  /** All entries about a subject. */
  public static AuditFilter about(String subject) {
    return new AuditFilter(
        Optional.of(subject),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }
}
