package dev.coatcheck.core.observe;

/** Something that happened and that an operator may want to know. */
public sealed interface Event {

  /**
   * A request was answered. The route is its pattern, so that its values stay out of the metrics.
   */
  record RequestServed(String method, String route, int status, long durationNanos)
      implements Event {}

  /** It was answered from memory, on the thread that had read it. */
  record CachedAnswerServed() implements Event {}

  /** It was answered on the thread that had brought its row. */
  record LoadedAnswerServed() implements Event {}

  /** A request ended in an error that is ours. */
  record RequestFailed(String requestId, Throwable cause) implements Event {}

  /** A round of a loop in the background ended in an error that is ours; the loop goes on. */
  record BackgroundFailed(String loop, Throwable cause) implements Event {}

  /** A request was refused because as many as are admitted were under way. */
  record RequestShed(String route) implements Event {}

  /** The file descriptors of the process are too few for the connections that were asked for. */
  record ConnectionsLowered(int wanted, int possible) implements Event {}

  /** As many connections are open as are allowed. */
  record ConnectionsFull(int connectionsMax) implements Event {}

  /** A connection was closed as soon as it came, because as many were open as are allowed. */
  record ConnectionRefused() implements Event {}

  /**
   * An import or an export did not come to its end.
   *
   * @param reason {@code too_slow}, {@code client_gone} or {@code database_gone}
   */
  record TransferBrokenOff(String route, String reason) implements Event {}

  /** A connection was closed because heads that were begun and not ended held too much memory. */
  record HeadDropped() implements Event {}

  /** Public IDs were minted in one transaction. */
  record Minted(String type, int created, int existing) implements Event {}

  /** A stored answer to a mint was sent again. */
  record MintReplayed() implements Event {}

  /** Public IDs were resolved: from the cache, from the database, or not at all. */
  record Resolved(int cached, int loaded, int unknown) implements Event {}

  /** A legacy ID was looked up: {@code found}, {@code not found} or {@code over}. */
  record LegacyAnswered(String type, String outcome) implements Event {}

  /** A visitor tried the legacy IDs of a type one by one and is refused for a while. */
  record ScanStopped(String type) implements Event {}

  /**
   * A generated key was taken already. It must never happen while leases hold: it means that a
   * worker's memory was copied. The key was dropped and another one drawn.
   */
  record GeneratedKeyConflict(String type, String key) implements Event {}

  /**
   * A worker lease came, went or could not be had; {@code worker} is -1 where there is none.
   *
   * @param routine whether it happens at every start and stop
   */
  record LeaseChanged(String layout, int worker, String outcome, String detail, boolean routine)
      implements Event {}

  /**
   * Keys were refused because the database has another primary than the one whose counts are known.
   *
   * @param kind {@code dated}: keys for given times; {@code segment}: numbers of segments
   */
  record KeysFenced(String kind) implements Event {}

  /**
   * The settings give the instance no workers of a layout, so it makes no keys of that layout.
   *
   * @param used whether a type has the layout
   */
  record LayoutWithoutWorkers(String layout, boolean used) implements Event {}

  /** A transaction gave up on a row or a lock that another one held. */
  record LockTimedOut(String operation) implements Event {}

  /** Postgres could not be asked, or broke off. */
  record DatabaseFailed(String operation, String sqlState, Throwable cause) implements Event {}

  /**
   * Postgres has no timeouts for our statements: abandoned statements continue.
   *
   * @param remedy the statements that give them
   */
  record StatementsUnbounded(String remedy) implements Event {}

  /**
   * A connection answered another question than the one that was asked, and was closed. It must
   * never happen: the connection was left in the middle of something.
   */
  record AnswersMixedUp(String operation, String detail) implements Event {}

  /** The change feed can't be read: caches are not trusted from now on. */
  record FeedDistrusted(String reason) implements Event {}

  /** The change feed is read again. */
  record FeedTrusted(long afterMillis) implements Event {}

  /** Changes may have been missed, so everything cached was dropped; also at the start. */
  record FeedRestarted(long position) implements Event {}

  /** The registry was read anew because it had changed. */
  record RegistryReloaded(int types) implements Event {}

  /** An API key was refused. Only the public part of a key is ever named. */
  record AccessRefused(String keyId, String reason) implements Event {}

  /** Something happened to a table migration. */
  record TableMigrated(String table, String kind, String detail) implements Event {}

  /**
   * What waits in an outbox.
   *
   * @param seconds age of the oldest entry
   */
  record OutboxFollowed(String table, long entries, long seconds) implements Event {}
}
