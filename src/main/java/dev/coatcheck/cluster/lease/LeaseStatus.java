package dev.coatcheck.cluster.lease;

/** Where a lease stands, for readiness, the log and the metrics. */
public sealed interface LeaseStatus {
  /** A window is open for another {@code windowMillisLeft}. */
  record Minting(int worker, long epoch, long windowMillisLeft) implements LeaseStatus {}

  /** No window is open. */
  record Waiting(String reason) implements LeaseStatus {}
}
