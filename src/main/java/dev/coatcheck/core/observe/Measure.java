package dev.coatcheck.core.observe;

import java.util.Map;

/** What the history of an instance has a value of for each step. */
public enum Measure {
  /** Requests answered a second. */
  REQUESTS,
  /** Of them, those that were answered from memory, without a request thread. */
  CACHED,
  /** Answers with a status from 400 to 499 a second. */
  CLIENT_ERRORS,
  /** Answers with a status from 500 on a second. */
  SERVER_ERRORS,
  /** Requests a second that were refused because more came than can be handled. */
  SHED,
  /** Public IDs minted a second. */
  MINTS,
  /** Milliseconds within which half of the requests that took a request thread were answered. */
  MEDIAN_MILLIS,
  /** Milliseconds within which 99 % of them were answered. */
  P99_MILLIS,
  /** Percent of the public IDs that were resolved from memory. */
  CACHE_SHARE,
  /** Connections to Postgres in use. */
  CONNECTIONS,
  /** Requests that wait for a connection. */
  WAITING,
  /** Seconds since the change feed was last heard. */
  FEED_SILENT,
  /** Megabytes of heap in use. */
  HEAP_MEGABYTES,
  /** Percent of all processors that this process uses. */
  PROCESSOR;

  /** The value of a step. */
  double between(Totals before, Totals now, double seconds) {
    return switch (this) {
      case REQUESTS -> (now.requests() - before.requests()) / seconds;
      case CACHED -> (now.cached() - before.cached()) / seconds;
      case CLIENT_ERRORS -> (now.clientErrors() - before.clientErrors()) / seconds;
      case SERVER_ERRORS -> (now.serverErrors() - before.serverErrors()) / seconds;
      case SHED -> (now.shed() - before.shed()) / seconds;
      case MINTS -> (now.mints() - before.mints()) / seconds;
      case MEDIAN_MILLIS -> millisOf(0.5, before, now);
      case P99_MILLIS -> millisOf(0.99, before, now);
      case CACHE_SHARE -> {
        double resolved = now.resolved() - before.resolved();
        yield resolved <= 0
            ? Double.NaN
            : 100 * (now.resolvedCached() - before.resolvedCached()) / resolved;
      }
      case CONNECTIONS -> now.poolActive();
      case WAITING -> now.poolWaiting();
      case FEED_SILENT -> now.feedSilentSeconds();
      case HEAP_MEGABYTES -> now.heapBytes() / 1_000_000;
      case PROCESSOR -> 100 * now.processorShare();
    };
  }

  /**
   * A quantile from the buckets of the timers, as Prometheus's {@code histogram_quantile}: evenly
   * spread within a bucket, and the bound of the last bucket for what took longer.
   */
  private static double millisOf(double share, Totals before, Totals now) {
    double wanted = share * (now.timed() - before.timed());
    if (wanted <= 0) {
      return Double.NaN;
    }
    double bound = 0;
    double below = 0;
    for (Map.Entry<Double, Double> bucket : now.upTo().entrySet()) {
      double upTo = bucket.getValue() - before.upTo().getOrDefault(bucket.getKey(), 0.0);
      if (upTo >= wanted) {
        double within = (wanted - below) / (upTo - below);
        return (bound + within * (bucket.getKey() - bound)) / 1e6;
      }
      bound = bucket.getKey();
      below = upTo;
    }
    return bound / 1e6;
  }
}
