package dev.coatcheck.core.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import java.util.Map;
import java.util.TreeMap;

/**
 * All that was counted since the start of this instance, at one time.
 *
 * @param requests all that were answered
 * @param cached of them, those that were answered from memory without a request thread
 * @param shed refused because more came than can be handled
 * @param upTo how many requests took at most so many nanoseconds, of those that took a request
 *     thread
 * @param timed how many those are
 * @param poolActive connections of our pools to Postgres that are in use now
 * @param poolWaiting requests that wait for one now
 */
record Totals(
    double requests,
    double cached,
    double clientErrors,
    double serverErrors,
    double shed,
    double mints,
    double resolvedCached,
    double resolved,
    Map<Double, Double> upTo,
    double timed,
    double poolActive,
    double poolWaiting,
    double feedSilentSeconds,
    double heapBytes,
    double processorShare) {

  static Totals of(MeterRegistry meters) {
    double timed = 0;
    double clientErrors = 0;
    double serverErrors = 0;
    Map<Double, Double> upTo = new TreeMap<>();
    for (Timer timer : meters.find("coatcheck.requests").timers()) {
      double count = timer.count();
      String status = String.valueOf(timer.getId().getTag("status"));
      timed += count;
      clientErrors += status.startsWith("4") ? count : 0;
      serverErrors += status.startsWith("5") ? count : 0;
      for (CountAtBucket bucket : timer.takeSnapshot().histogramCounts()) {
        upTo.merge(bucket.bucket(), bucket.count(), Double::sum);
      }
    }
    double cached = counted(meters, "coatcheck.requests.cached");
    double loaded = counted(meters, "coatcheck.requests.loaded");
    double resolvedCached =
        meters.find("coatcheck.resolves").tag("outcome", "cached").counters().stream()
            .mapToDouble(Counter::count)
            .sum();
    return new Totals(
        timed + cached + loaded,
        cached,
        clientErrors,
        serverErrors,
        counted(meters, "coatcheck.requests.shed"),
        counted(meters, "coatcheck.mints"),
        resolvedCached,
        counted(meters, "coatcheck.resolves"),
        upTo,
        timed,
        gauged(meters, "hikaricp.connections.active"),
        gauged(meters, "hikaricp.connections.pending"),
        gauged(meters, "coatcheck.feed.silent.seconds"),
        meters.find("jvm.memory.used").tag("area", "heap").gauges().stream()
            .mapToDouble(Gauge::value)
            .sum(),
        gauged(meters, "process.cpu.usage"));
  }

  private static double counted(MeterRegistry meters, String name) {
    return meters.find(name).counters().stream().mapToDouble(Counter::count).sum();
  }

  private static double gauged(MeterRegistry meters, String name) {
    return meters.find(name).gauges().stream().mapToDouble(Gauge::value).sum();
  }
}
