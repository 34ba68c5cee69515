package dev.coatcheck.core.observe;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Logs the events that an operator should read. Common events are metrics only. Events that load
 * can repeat without end are logged once a second, with their number.
 */
final class EventLog {
  private static final Logger log = LoggerFactory.getLogger("coatcheck");

  private final RepeatedLines repeated;

  EventLog() {
    this(new RepeatedLines((level, line) -> log.atLevel(level).log(line)));
  }

  EventLog(RepeatedLines repeated) {
    this.repeated = repeated;
  }

  void write(Event event) {
    switch (event) {
      case Event.RequestFailed failed ->
          log.error("request {} failed", failed.requestId(), failed.cause());
      case Event.BackgroundFailed failed ->
          repeat(
              Level.ERROR,
              "background " + failed.loop(),
              () ->
                  "background loop %s failed: %s".formatted(failed.loop(), trace(failed.cause())));
      case Event.GeneratedKeyConflict conflict ->
          repeat(
              Level.ERROR,
              "key " + conflict.type(),
              () ->
                  "the generated key %s of type %s already exists; another key was drawn. Check whether a copy of this machine is running."
                      .formatted(conflict.key(), conflict.type()));
      case Event.KeysFenced(String kind) ->
          repeat(
              Level.WARN,
              "fenced " + kind,
              () ->
                  "%s are refused since a failover or a restore; end that with: coatcheck keys fence (docs/leases.md says how)"
                      .formatted(
                          kind.equals("dated") ? "keys for given times" : "numbers of segments"));
      case Event.LeaseChanged change ->
          repeat(
              change.routine() ? Level.DEBUG : Level.WARN,
              "lease " + change.layout() + " " + change.worker() + " " + change.outcome(),
              () -> line(change));
      case Event.LayoutWithoutWorkers without ->
          log.atLevel(without.used() ? Level.WARN : Level.INFO)
              .log(
                  "COATCHECK_WORKERS has no range for layout {}: this instance makes no keys of"
                      + " it{}",
                  without.layout(),
                  without.used() ? ", but types have this layout" : "");
      case Event.DatabaseFailed failed ->
          repeat(
              Level.WARN,
              "database " + failed.operation() + " " + failed.sqlState(),
              () ->
                  "database: %s failed (SQLSTATE %s): %s"
                      .formatted(failed.operation(), failed.sqlState(), firstLine(failed.cause())));
      case Event.StatementsUnbounded unbounded ->
          log.warn(
              "a pooler drops what connections begin with, so abandoned statements continue to"
                  + " run, and what others create in public is found. If only the gateway uses this"
                  + " user, run: {}",
              unbounded.remedy());
      case Event.RedirectsUnlisted(List<String> types) ->
          log.warn(
              "COATCHECK_REDIRECT_HOSTS doesn't list the hosts to which these types redirect, and"
                  + " their links answer 404: {}. List the hosts, or change the types",
              String.join(", ", types));
      case Event.SchemaNewer(String version, String known) ->
          log.warn(
              "the schema has version {}, and this program knows {}: it may serve beside the next"
                  + " release for a while; install that release here too",
              version,
              known);
      case Event.AnswersMixedUp mixedUp ->
          repeat(
              Level.ERROR,
              "mixed up " + mixedUp.operation(),
              () ->
                  "a connection returned the answer to another statement than %s (%s); it was closed"
                      .formatted(mixedUp.operation(), mixedUp.detail()));
      case Event.TransferBrokenOff broken ->
          repeat(
              Level.INFO,
              "transfer " + broken.route() + " " + broken.reason(),
              () -> "%s broke off: %s".formatted(broken.route(), broken.reason()));
      case Event.FeedDistrusted distrusted ->
          log.warn("the change feed can't be read: {}", distrusted.reason());
      case Event.FeedTrusted trusted ->
          log.info("the change feed is read again, after {} ms", trusted.afterMillis());
      case Event.ReplicaLost(String reason) ->
          log.warn("the replica isn't used, all reads go to the primary: {}", reason);
      case Event.ReplicaBack(long afterMillis) ->
          log.info("the replica is used again, after {} ms", afterMillis);
      case Event.FeedRestarted restarted ->
          log.debug("change feed: caches are cleared, reading starts at {}", restarted.position());
      case Event.RegistryReloaded reloaded -> log.debug("registry: {} types", reloaded.types());
      case Event.AccessRefused refused ->
          repeat(
              Level.INFO,
              "access " + refused.reason(),
              () ->
                  "access refused for API key %s: %s".formatted(refused.keyId(), refused.reason()));
      case Event.ScanStopped stopped ->
          repeat(
              Level.INFO,
              "scan " + stopped.type(),
              () -> "a client tries legacy IDs one by one, of type " + stopped.type());
      case Event.TableMigrated migrated ->
          log.info(
              "table migration of {}: {} {}", migrated.table(), migrated.kind(), migrated.detail());
      case Event.ConnectionsLowered(int wanted, int possible) ->
          log.warn(
              "the limit of open files allows {} connections, not {}: raise the limit (ulimit -n)"
                  + " or lower COATCHECK_CONNECTIONS_MAX",
              possible,
              wanted);
      case Event.ConnectionsFull(int connectionsMax) ->
          repeat(
              Level.WARN,
              "connections full",
              () ->
                  "all %d connections are open: no more are accepted, and idle ones end after 5 s"
                      .formatted(connectionsMax));
      case Event.HeadDropped _ ->
          repeat(
              Level.WARN,
              "head dropped",
              () -> "too many requests are incomplete: the oldest connection was closed");
      case Event.ConnectionRefused _ ->
          repeat(
              Level.WARN,
              "connection refused",
              () -> "a new connection was closed: the limit of open connections is reached");
      case Event.CertificateReplaced replaced ->
          log.info("new connections get another TLS certificate, valid until {}", replaced.end());
      case Event.SealKeyMissed(String fingerprint) ->
          repeat(
              Level.WARN,
              "seal key " + fingerprint,
              () ->
                  "the seal key %s is missing here, so its public IDs are refused"
                      .formatted(fingerprint));
      case Event.CertificateRefused(String why) ->
          log.error("the changed TLS files are not used, the last certificate stays: {}", why);
      case Event.RequestServed _,
          Event.CachedAnswerServed _,
          Event.LoadedAnswerServed _,
          Event.RequestShed _,
          Event.Minted _,
          Event.MintReplayed _,
          Event.LockTimedOut _,
          Event.LegacyAnswered _,
          Event.OutboxFollowed _,
          Event.ReplicaServed _,
          Event.ReplicaPassedOver _,
          Event.Resolved _ -> {}
    }
  }

  private void repeat(Level level, String kind, Supplier<String> line) {
    repeated.write(level, kind, line);
  }

  private static String line(Event.LeaseChanged change) {
    return "lease of layout %s: %s%s %s"
        .formatted(
            change.layout(),
            change.outcome(),
            change.worker() < 0 ? "" : " worker " + change.worker(),
            change.detail());
  }

  private static String trace(Throwable cause) {
    StringWriter trace = new StringWriter();
    cause.printStackTrace(new PrintWriter(trace));
    return trace.toString().strip();
  }

  /** What Postgres or the network said, without the statement and without the values of rows. */
  private static String firstLine(Throwable cause) {
    return RootCause.message(cause).lines().findFirst().orElse("");
  }
}
