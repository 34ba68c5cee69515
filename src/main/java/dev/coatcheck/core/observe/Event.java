package dev.coatcheck.core.observe;

import java.time.Instant;
import java.util.List;

/** Something that happened and that an operator may want to know about. */
public sealed interface Event {

  /** A request was answered. The route is its pattern, which keeps values out of the metrics. */
  record RequestServed(String method, String route, int status, long durationNanos)
      implements Event {}

  /** A request was answered from memory, on the thread that read it. */
  record CachedAnswerServed() implements Event {}

  /** A request was answered on the thread that loaded its row. */
  record LoadedAnswerServed() implements Event {}

  /** A request failed because of an error of ours. */
  record RequestFailed(String requestId, Throwable cause) implements Event {}

  /** A round of a background loop failed because of an error of ours. The loop continues. */
  record BackgroundFailed(String loop, Throwable cause) implements Event {}

  /** A request was refused because the maximum number of requests was running. */
  record RequestShed(String route) implements Event {}

  /** The process has too few file descriptors for the requested number of connections. */
  record ConnectionsLowered(int wanted, int possible) implements Event {}

  /** The maximum number of connections is open. */
  record ConnectionsFull(int connectionsMax) implements Event {}

  /** A new connection was closed at once because the maximum number was open. */
  record ConnectionRefused() implements Event {}

  /**
   * New connections get another TLS certificate.
   *
   * @param end until when it is valid
   */
  record CertificateReplaced(Instant end) implements Event {}

  /** The files of the TLS certificate were changed and can't be used; the last one stays. */
  record CertificateRefused(String why) implements Event {}

  /**
   * An import or an export was broken off.
   *
   * @param reason {@code too_slow}, {@code client_gone}, {@code access_ended} or {@code
   *     database_gone}
   */
  record TransferBrokenOff(String route, String reason) implements Event {}

  /** A connection was closed because incomplete request heads used too much memory. */
  record HeadDropped() implements Event {}

  /** A public ID could be neither made nor opened, because this instance lacks a seal key. */
  record SealKeyMissed(String fingerprint) implements Event {}

  /** Public IDs were minted in one transaction. */
  record Minted(String type, int created, int existing) implements Event {}

  /** A stored response to a mint was replayed. */
  record MintReplayed() implements Event {}

  /** Public IDs were resolved: from the cache, from the database, or they were unknown. */
  record Resolved(int cached, int loaded, int unknown) implements Event {}

  /** A legacy ID was looked up: {@code found}, {@code not found} or {@code over}. */
  record LegacyAnswered(String type, String outcome) implements Event {}

  /** A visitor tried the legacy IDs of a type one after the other and is refused for a while. */
  record ScanStopped(String type) implements Event {}

  /**
   * A generated key already exists. This must never happen while leases work: it means that the
   * memory of a worker was copied. The key was dropped and another one was drawn.
   */
  record GeneratedKeyConflict(String type, String key) implements Event {}

  /**
   * A worker lease was granted, was lost or was not available; {@code worker} is -1 if there is
   * none.
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
   * The settings give this instance no workers of a layout, so it generates no keys of the layout.
   *
   * @param used whether a type has the layout
   */
  record LayoutWithoutWorkers(String layout, boolean used) implements Event {}

  /** A transaction gave up waiting for a row or a lock that another transaction held. */
  record LockTimedOut(String operation) implements Event {}

  /** Postgres could not be reached, or a statement was broken off. */
  record DatabaseFailed(String operation, String sqlState, Throwable cause) implements Event {}

  /**
   * Postgres sets no timeouts for our statements, so abandoned statements continue.
   *
   * @param remedy the statements that set them
   */
  record StatementsUnbounded(String remedy) implements Event {}

  /** Types whose links lead to hosts that the operator doesn't list, and answer 404. */
  record RedirectsUnlisted(List<String> types) implements Event {}

  /** The schema was made by a later release than this program. */
  record SchemaNewer(String version, String known) implements Event {}

  /**
   * A connection returned the answer to another question, and was closed. This must never happen:
   * it means that the connection was left in the middle of an exchange.
   */
  record AnswersMixedUp(String operation, String detail) implements Event {}

  /** The change feed can't be read. Caches are not trusted from now on. */
  record FeedDistrusted(String reason) implements Event {}

  /** The change feed is read again. */
  record FeedTrusted(long afterMillis) implements Event {}

  /** Public IDs were read at the replica. */
  record ReplicaServed(int ids) implements Event {}

  /**
   * Public IDs were asked at the primary, though there is a replica.
   *
   * @param reason {@code miss}, {@code behind}, and others in {@code docs/operations.md}
   */
  record ReplicaPassedOver(String reason, int ids) implements Event {}

  /** The replica has not been used for a while, and all reads go to the primary. */
  record ReplicaLost(String reason) implements Event {}

  /** The replica is used again. */
  record ReplicaBack(long afterMillis) implements Event {}

  /** Changes may have been missed, or the instance starts, so all cache entries were dropped. */
  record FeedRestarted(long position) implements Event {}

  /** The registry was loaded again because it had changed. */
  record RegistryReloaded(int types) implements Event {}

  /** An API key was refused. Only the public part of the key is named. */
  record AccessRefused(String keyId, String reason) implements Event {}

  /** Something happened to a table migration. */
  record TableMigrated(String table, String kind, String detail) implements Event {}

  /**
   * The state of an outbox.
   *
   * @param seconds age of the oldest entry
   */
  record OutboxFollowed(String table, long entries, long seconds) implements Event {}
}
