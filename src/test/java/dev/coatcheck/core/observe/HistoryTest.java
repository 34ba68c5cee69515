package dev.coatcheck.core.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HistoryTest {
  private final Observer observer = new Observer();
  private final MeterRegistry meters = observer.meters();
  private final History history = new History(observer, 0);
  private long nanos;

  /** Ten seconds after the step before. */
  private void step() {
    nanos += History.STEP.toNanos();
    history.take(observer.totals(), nanos);
  }

  private void serve(int status, long millis, int times) {
    for (int i = 0; i < times; i++) {
      observer.observe(
          new Event.RequestServed(
              "GET", "/v1/ids/{id}", status, TimeUnit.MILLISECONDS.toNanos(millis)));
    }
  }

  @Test
  void ratesAreOfTheLastStepOnly() {
    serve(200, 1, 50);
    step();
    serve(200, 1, 20);
    serve(404, 1, 10);
    serve(503, 1, 5);
    observer.observe(new Event.CachedAnswerServed());
    step();

    assertThat(history.of(Measure.REQUESTS)).hasSize(2).first().isEqualTo(5.0);
    assertThat(history.last(Measure.REQUESTS)).isCloseTo(3.6, within(1e-6));
    assertThat(history.last(Measure.CLIENT_ERRORS)).isEqualTo(1.0);
    assertThat(history.last(Measure.SERVER_ERRORS)).isEqualTo(0.5);
    assertThat(history.last(Measure.CACHED)).isCloseTo(0.1, within(1e-6));
    assertThat(history.sum(Measure.SERVER_ERRORS, 6)).isCloseTo(5, within(1e-4));
  }

  @Test
  void quantilesAreOfTheLastStepAndLieInTheirBucket() {
    serve(200, 400, 1_000);
    step();
    serve(200, 3, 98);
    serve(200, 60, 2);
    step();

    assertThat(history.last(Measure.MEDIAN_MILLIS)).isBetween(1.0, 5.0);
    assertThat(history.last(Measure.P99_MILLIS)).isBetween(25.0, 100.0);
    step();
    assertThat(history.last(Measure.MEDIAN_MILLIS)).isNaN();
  }

  @Test
  void whatTakesLongerThanTheLastBucketCountsAsItsBound() {
    serve(200, 30_000, 10);
    step();

    assertThat(history.last(Measure.P99_MILLIS)).isEqualTo(500);
  }

  @Test
  void theShareOfResolvesFromMemoryIsUnknownWithoutAny() {
    step();
    assertThat(history.last(Measure.CACHE_SHARE)).isNaN();
    observer.observe(new Event.Resolved(3, 1, 0));
    step();
    assertThat(history.last(Measure.CACHE_SHARE)).isEqualTo(75);
  }

  @Test
  void anHourIsKeptInFixedMemory() {
    int before = history.bytes();
    IntStream.range(0, History.POINTS + 40)
        .forEach(
            _ -> {
              meters.counter("coatcheck.mints", "type", "a", "outcome", "created").increment(10);
              step();
            });

    assertThat(history.of(Measure.MINTS)).hasSize(History.POINTS).containsOnly(1.0);
    assertThat(history.bytes()).isEqualTo(before).isLessThanOrEqualTo(120_000);
  }
}
