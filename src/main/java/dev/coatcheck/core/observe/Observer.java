package dev.coatcheck.core.observe;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.DoubleSupplier;

/** Passes each event to the log and to the metrics. Never throws. */
public final class Observer {
  private final EventLog log = new EventLog();
  private final EventMetrics metrics = new EventMetrics();

  public void observe(Event event) {
    log.write(event);
    metrics.count(event);
  }

  /** The metrics in the Prometheus text format. */
  public String scrape() {
    return metrics.scrape();
  }

  /** Registers a value that is read at each scrape. */
  public void gauge(String name, String label, String of, DoubleSupplier value) {
    Gauge.builder(name, value::getAsDouble).tag(label, of).register(metrics.registry());
  }

  public void gauge(String name, DoubleSupplier value) {
    Gauge.builder(name, value::getAsDouble).register(metrics.registry());
  }

  /** All that was counted since the start. */
  Totals totals() {
    return Totals.of(metrics.registry());
  }

  /** For values that libraries measure themselves, such as those of the connection pool. */
  public MeterRegistry meters() {
    return metrics.registry();
  }
}
