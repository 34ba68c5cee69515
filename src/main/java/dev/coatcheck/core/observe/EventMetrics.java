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
      case Event.RequestFailed _ -> counter("coatcheck.requests.failed").increment();
      case Event.BackgroundFailed failed ->
          counter("coatcheck.background.failures", "loop", failed.loop()).increment();
      case Event.RequestShed shed ->
          counter("coatcheck.requests.shed", "route", shed.route()).increment();
      case Event.ConnectionsLowered _ -> {}
      case Event.ConnectionsFull _ -> counter("coatcheck.connections.full").increment();
      case Event.HeadDropped _ -> counter("coatcheck.requests.heads.dropped").increment();
      case Event.ConnectionRefused _ -> counter("coatcheck.connections.refused").increment();
      case Event.CertificateReplaced _ ->
          counter("coatcheck.tls.reloads", "outcome", "replaced").increment();
      case Event.CertificateRefused _ ->
          counter("coatcheck.tls.reloads", "outcome", "refused").increment();
      case Event.TransferBrokenOff broken ->
          counter(
                  "coatcheck.transfers.broken.off",
                  "route",
                  broken.route(),
                  "reason",
                  broken.reason())
              .increment();
      case Event.Minted minted -> {
        counter("coatcheck.mints", "type", minted.type(), "outcome", "created")
            .increment(minted.created());
        counter("coatcheck.mints", "type", minted.type(), "outcome", "existing")
            .increment(minted.existing());
      }
      case Event.SealKeyMissed _ -> counter("coatcheck.seal.keys.missed").increment();
      case Event.MintReplayed _ -> counter("coatcheck.mints.replayed").increment();
      case Event.Resolved resolved -> {
        resolvedCached.increment(resolved.cached());
        resolvedLoaded.increment(resolved.loaded());
        resolvedUnknown.increment(resolved.unknown());
      }
      case Event.LegacyAnswered(String type, String outcome) ->
          counter("coatcheck.legacy.lookups", "type", type, "outcome", outcome).increment();
      case Event.ScanStopped stopped ->
          counter("coatcheck.legacy.scans", "type", stopped.type()).increment();
      case Event.GeneratedKeyConflict conflict ->
          counter("coatcheck.keys.conflicts", "type", conflict.type()).increment();
      case Event.KeysFenced(String kind) ->
          counter("coatcheck.keys.fenced", "kind", kind).increment();
      case Event.LeaseChanged change ->
          counter("coatcheck.lease.changes", "layout", change.layout(), "outcome", change.outcome())
              .increment();
      case Event.LockTimedOut timedOut ->
          counter("coatcheck.database.lock.timeouts", "operation", timedOut.operation())
              .increment();
      case Event.DatabaseFailed failed ->
          counter("coatcheck.database.failures", "sqlstate", failed.sqlState()).increment();
      case Event.StatementsUnbounded _, Event.SchemaNewer _, Event.RedirectsUnlisted _ -> {}
      case Event.AnswersMixedUp mixedUp ->
          counter("coatcheck.database.mixups", "operation", mixedUp.operation()).increment();
      case Event.FeedDistrusted _ -> counter("coatcheck.feed.distrusts").increment();
      case Event.FeedTrusted _, Event.LayoutWithoutWorkers _ -> {}
      case Event.ReplicaServed(int ids) -> counter("coatcheck.replica.served").increment(ids);
      case Event.ReplicaPassedOver(String reason, int ids) ->
          counter("coatcheck.replica.passed.over", "reason", reason).increment(ids);
      case Event.ReplicaLost _ -> counter("coatcheck.replica.losses").increment();
      case Event.ReplicaBack _ -> {}
      case Event.FeedRestarted _ -> counter("coatcheck.feed.restarts").increment();
      case Event.RegistryReloaded _ -> counter("coatcheck.registry.reloads").increment();
      case Event.TableMigrated migrated ->
          counter(
                  "coatcheck.table.migration.events",
                  "table",
                  migrated.table(),
                  "kind",
                  migrated.kind())
              .increment();
      case Event.OutboxFollowed followed -> {
        gauge("coatcheck.table.migration.outbox.entries", followed.table(), followed.entries());
        gauge("coatcheck.table.migration.outbox.lag.seconds", followed.table(), followed.seconds());
      }
      case Event.AccessRefused refused ->
          counter("coatcheck.access.refused", "reason", refused.reason()).increment();
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
