package dev.coatcheck.keys;

import dev.coatcheck.cluster.lease.WorkerLease;
import dev.coatcheck.core.key.KeyReservation;

/** Keys of a leased worker. */
final class LeasedSource implements KeySource {
  private final WorkerLease lease;

  LeasedSource(WorkerLease lease) {
    this.lease = lease;
  }

  @Override
  public long key() {
    return lease.key();
  }

  @Override
  public KeyReservation reserve(int count) {
    return lease.reserve(count);
  }

  @Override
  public void awaitFirst() {
    lease.awaitFirstReply();
  }

  @Override
  public void close() {
    lease.close();
  }
}
