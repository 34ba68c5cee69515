package dev.coatcheck.core.observe;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.DoubleSupplier;

/** Passes every event to the log and to the metrics. Never throws. */
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

  /** Shows a value that is asked for at each scrape. */
  public void gauge(String name, String label, String of, DoubleSupplier value) {
    Gauge.builder(name, value::getAsDouble).tag(label, of).register(metrics.registry());
  }

  /** As {@link #gauge(String, String, String, DoubleSupplier)}, without a label. */
  public void gauge(String name, DoubleSupplier value) {
    Gauge.builder(name, value::getAsDouble).register(metrics.registry());
  }

  /** For what libraries measure by themselves, such as the connection pool. */
  public MeterRegistry meters() {
    return metrics.registry();
  }
}
