package dev.coatcheck.cluster.lease;

/** One statement about a lease. */
public sealed interface LeaseRequest {
  /** Any free worker. */
  record Acquire() implements LeaseRequest {}

  /** More window for the worker held; {@code untilMillis} is what the holder knows it has. */
  record Renew(int worker, long epoch, long untilMillis) implements LeaseRequest {}

  /** The worker is left at its mark: no instance gets the milliseconds already granted. */
  record Release(int worker, long epoch) implements LeaseRequest {}
}
