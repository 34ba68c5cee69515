package dev.coatcheck.observe;

import io.micrometer.core.instrument.MeterRegistry;

/** Hears every event and passes it to the log and to the metrics. Never throws. */
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

  /** For what libraries measure by themselves, such as the connection pool. */
  public MeterRegistry meters() {
    return metrics.registry();
  }
}
