package dev.coatcheck.core.observe;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Writes the events that somebody should read. The common ones are metrics only. */
final class EventLog {
  private static final Logger log = LoggerFactory.getLogger("coatcheck");

  void write(Event event) {
    switch (event) {
      case Event.RequestFailed failed ->
          log.error("request {} failed", failed.requestId(), failed.cause());
      case Event.GeneratedKeyConflict conflict ->
          log.error(
              "the generated key {} of type {} was taken already; another one was drawn. Is a copy"
                  + " of this machine running?",
              conflict.key(),
              conflict.type());
      case Event.LeaseChanged change ->
          log.atLevel(change.routine() ? Level.DEBUG : Level.WARN)
              .log(
                  "lease of layout {}: {}{} {}",
                  change.layout(),
                  change.outcome(),
                  change.worker() < 0 ? "" : " worker " + change.worker(),
                  change.detail());
      case Event.DatabaseFailed failed ->
          log.warn(
              "database: {} failed (SQLSTATE {}): {}",
              failed.operation(),
              failed.sqlState(),
              firstLine(failed.cause()));
      case Event.FeedDistrusted distrusted ->
          log.warn("the change feed can't be read: {}", distrusted.reason());
      case Event.FeedTrusted trusted ->
          log.info("the change feed is read again, after {} ms", trusted.afterMillis());
      case Event.FeedRestarted restarted ->
          log.debug("change feed: caches are empty, from {} on", restarted.position());
      case Event.RegistryReloaded reloaded -> log.debug("registry: {} types", reloaded.types());
      case Event.AccessRefused refused ->
          log.info("access refused for API key {}: {}", refused.keyId(), refused.reason());
      case Event.ScanStopped stopped ->
          log.info("somebody goes through the old numbers of type {}", stopped.type());
      case Event.TableMigrated migrated ->
          log.info(
              "table migration of {}: {} {}", migrated.table(), migrated.kind(), migrated.detail());
      case Event.RequestServed _,
          Event.RequestServedHot _,
          Event.RequestShed _,
          Event.Minted _,
          Event.MintReplayed _,
          Event.LockTimedOut _,
          Event.LegacyAnswered _,
          Event.OutboxFollowed _,
          Event.Resolved _ -> {}
    }
  }

  private static String firstLine(Throwable cause) {
    return String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
  }
}
