package dev.coatcheck.client;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;

/**
 * Counts and times calls in Micrometer: the timer {@code coatcheck.client.calls} with the tags
 * {@code operation} and {@code status}, and the counter {@code coatcheck.client.retries} with
 * {@code operation}. Needs {@code micrometer-core}, which the library brings to nobody.
 */
public final class MicrometerCalls implements CallListener {
  private final MeterRegistry registry;

  /**
   * Begins to count.
   *
   * @param registry that keeps the timer and the counter
   */
  public MicrometerCalls(MeterRegistry registry) {
    this.registry = registry;
  }

  @Override
  public void ended(String operation, int status, int tries, Duration took) {
    Timer.builder("coatcheck.client.calls")
        .description("Calls of the gateway, with all their tries")
        .tag("operation", operation)
        .tag("status", Integer.toString(status))
        .register(registry)
        .record(took);
    if (tries > 1) {
      registry.counter("coatcheck.client.retries", "operation", operation).increment(tries - 1.0);
    }
  }
}
