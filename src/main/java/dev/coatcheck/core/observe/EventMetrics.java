package dev.coatcheck.core.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Counts events. Labels are types, routes and statuses: bounded sets, never an ID or a key. */
final class EventMetrics {
  private record Route(String method, String route, int status) {}

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Map<Route, Timer> requests = new ConcurrentHashMap<>();

  private final Map<Series, Counter> counters = new ConcurrentHashMap<>();

  /** A name and its labels, names and values alternating. */
  private record Series(String name, List<String> labels) {}

  private record Gauge(String name, String table) {}

  private final Map<Gauge, AtomicLong> gauges = new ConcurrentHashMap<>();

  private final Counter cachedAnswers = registry.counter("coatcheck.requests.cached");
  private final Counter loadedAnswers = registry.counter("coatcheck.requests.loaded");
  private final Counter resolvedCached = resolves("cached");
  private final Counter resolvedLoaded = resolves("loaded");
  private final Counter resolvedUnknown = resolves("unknown");

  EventMetrics() {
    new JvmMemoryMetrics().bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    new ProcessorMetrics().bindTo(registry);
  }

  void count(Event event) {
    switch (event) {
      case Event.RequestServed served ->
          requests
              .computeIfAbsent(
                  new Route(served.method(), served.route(), served.status()), this::timer)
              .record(served.durationNanos(), TimeUnit.NANOSECONDS);
      case Event.CachedAnswerServed _ -> cachedAnswers.increment();
      case Event.LoadedAnswerServed _ -> loadedAnswers.increment();
      case Event.RequestFailed _ -> count("coatcheck.requests.failed");
      case Event.BackgroundFailed failed ->
          count("coatcheck.background.failures", "loop", failed.loop());
      case Event.RequestShed shed -> count("coatcheck.requests.shed", "route", shed.route());
      case Event.ConnectionsLowered _ -> {}
      case Event.ConnectionsFull _ -> count("coatcheck.connections.full");
      case Event.HeadDropped _ -> count("coatcheck.requests.heads.dropped");
      case Event.ConnectionRefused _ -> count("coatcheck.connections.refused");
      case Event.CertificateReplaced _ -> count("coatcheck.tls.reloads", "outcome", "replaced");
      case Event.CertificateRefused _ -> count("coatcheck.tls.reloads", "outcome", "refused");
      case Event.TransferBrokenOff broken ->
          count(
              "coatcheck.transfers.broken.off", "route", broken.route(), "reason", broken.reason());
      case Event.Minted minted -> {
        counter("coatcheck.mints", "type", minted.type(), "outcome", "created")
            .increment(minted.created());
        counter("coatcheck.mints", "type", minted.type(), "outcome", "existing")
            .increment(minted.existing());
      }
      case Event.SealKeyMissed _ -> count("coatcheck.seal.keys.missed");
      case Event.MintReplayed _ -> count("coatcheck.mints.replayed");
      case Event.Resolved resolved -> {
        resolvedCached.increment(resolved.cached());
        resolvedLoaded.increment(resolved.loaded());
        resolvedUnknown.increment(resolved.unknown());
      }
      case Event.LegacyAnswered(String type, String outcome) ->
          count("coatcheck.legacy.lookups", "type", type, "outcome", outcome);
      case Event.ScanStopped stopped -> count("coatcheck.legacy.scans", "type", stopped.type());
      case Event.GeneratedKeyConflict conflict ->
          count("coatcheck.keys.conflicts", "type", conflict.type());
      case Event.KeysFenced(String kind) -> count("coatcheck.keys.fenced", "kind", kind);
      case Event.LeaseChanged change ->
          count("coatcheck.lease.changes", "layout", change.layout(), "outcome", change.outcome());
      case Event.LockTimedOut timedOut ->
          count("coatcheck.database.lock.timeouts", "operation", timedOut.operation());
      case Event.DatabaseFailed failed ->
          count("coatcheck.database.failures", "sqlstate", failed.sqlState());
      case Event.StatementsUnbounded _, Event.SchemaNewer _, Event.RedirectsUnlisted _ -> {}
      case Event.AnswersMixedUp mixedUp ->
          count("coatcheck.database.mixups", "operation", mixedUp.operation());
      case Event.FeedDistrusted _ -> count("coatcheck.feed.distrusts");
      case Event.FeedTrusted _, Event.LayoutWithoutWorkers _ -> {}
      case Event.ReplicaServed(int ids) -> counter("coatcheck.replica.served").increment(ids);
      case Event.ReplicaPassedOver(String reason, int ids) ->
          counter("coatcheck.replica.passed.over", "reason", reason).increment(ids);
      case Event.ReplicaLost _ -> count("coatcheck.replica.losses");
      case Event.ReplicaBack _ -> {}
      case Event.FeedRestarted _ -> count("coatcheck.feed.restarts");
      case Event.RegistryReloaded _ -> count("coatcheck.registry.reloads");
      case Event.TableMigrated migrated ->
          count(
              "coatcheck.table.migration.events",
              "table",
              migrated.table(),
              "kind",
              migrated.kind());
      case Event.OutboxFollowed followed -> {
        gauge("coatcheck.table.migration.outbox.entries", followed.table(), followed.entries());
        gauge("coatcheck.table.migration.outbox.lag.seconds", followed.table(), followed.seconds());
      }
      case Event.AccessRefused refused ->
          count("coatcheck.access.refused", "reason", refused.reason());
    }
  }

  String scrape() {
    return registry.scrape();
  }

  MeterRegistry registry() {
    return registry;
  }

  private Counter resolves(String outcome) {
    return registry.counter("coatcheck.resolves", "outcome", outcome);
  }

  private void count(String name, String... labels) {
    counter(name, labels).increment();
  }

  /** Caches counters, because the registry would sort and copy the labels each time. */
  private Counter counter(String name, String... labels) {
    return counters.computeIfAbsent(
        new Series(name, List.of(labels)), _ -> registry.counter(name, labels));
  }

  private void gauge(String name, String table, long value) {
    gauges
        .computeIfAbsent(
            new Gauge(name, table),
            gauge ->
                registry.gauge(gauge.name(), Tags.of("table", gauge.table()), new AtomicLong()))
        .set(value);
  }

  private Timer timer(Route route) {
    return Timer.builder("coatcheck.requests")
        .tags("method", route.method(), "route", route.route())
        .tag("status", Integer.toString(route.status()))
        .serviceLevelObjectives(
            Duration.ofMillis(1),
            Duration.ofMillis(5),
            Duration.ofMillis(25),
            Duration.ofMillis(100),
            Duration.ofMillis(500))
        .register(registry);
  }
}
