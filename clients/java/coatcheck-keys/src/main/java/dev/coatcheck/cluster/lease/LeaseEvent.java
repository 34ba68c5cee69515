package dev.coatcheck.cluster.lease;

/** What happens to a lease, for the log and the metrics. */
public sealed interface LeaseEvent {
  record Acquired(String layout, int worker, long epoch) implements LeaseEvent {}

  /** The row has another holder or has moved on; the rest of the granted window stays usable. */
  record Gone(String layout, int worker, long epoch) implements LeaseEvent {}

  /** The database's clock fell behind the keys already made: the worker rests at its mark. */
  record SteppedBack(String layout, int worker, long leadMillis) implements LeaseEvent {}

  /** The wall clock ran ahead of the monotonic one, as after a machine was suspended. */
  record ClosedEarly(String layout, int worker) implements LeaseEvent {}

  record NoneFree(String layout, String reason) implements LeaseEvent {}

  record Failed(String layout, String reason) implements LeaseEvent {}

  record Released(String layout, int worker) implements LeaseEvent {}
}
