package dev.coatcheck.cluster.lease;

/** The reply to a request. {@code nowMillis} is the database's clock, read once. */
public sealed interface LeaseReply {
  /** The window is the milliseconds after {@code nowMillis} up to {@code untilMillis}. */
  record Acquired(int worker, long epoch, long nowMillis, long untilMillis) implements LeaseReply {}

  /**
   * Every worker is held or rests; the reason lists the holders.
   *
   * @param freeInMillis when the first lease or rest ends, unless it is renewed or given back
   */
  record NoneFree(String reason, long freeInMillis) implements LeaseReply {}

  record Renewed(long nowMillis, long untilMillis) implements LeaseReply {}

  /** The row is no longer the asker's. */
  record Gone() implements LeaseReply {}

  record Released() implements LeaseReply {}

  /** No answer. The statement may still take effect, now or later. */
  record Failed(String reason) implements LeaseReply {}
}
