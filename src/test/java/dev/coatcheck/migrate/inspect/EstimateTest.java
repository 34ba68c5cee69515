package dev.coatcheck.migrate.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.inspect.Estimate.PhaseTime;
import dev.coatcheck.migrate.steps.Phase;
import java.util.Arrays;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;

/** What a run is said to take. */
class EstimateTest {
  private static final Estimate.Measure MILLION =
      new Estimate.Measure(1_000_000, 100 << 20, 50 << 20, 2, 300e6, 1, false);

  @Test
  void everyPhaseIsEstimatedInItsOrder() {
    assertThat(Estimate.of(MILLION).phases())
        .extracting(PhaseTime::phase)
        .containsExactlyElementsOf(Arrays.stream(Phase.values()).map(Phase::wireName).toList());
    assertThat(Estimate.of(MILLION).phases()).allMatch(time -> time.seconds() >= 1);
  }

  @Test
  void theBackfillOfAMillionRowsTakesAboutAMinuteOnTheMachineItWasMeasuredOn() {
    assertThat(seconds(MILLION, "backfill")).isBetween(40L, 80L);
  }

  @Test
  void moreRowsIndexesAndASlowerServerTakeLonger() {
    assertThat(seconds(table(2_000_000, 2, 1), "backfill"))
        .isGreaterThan(seconds(MILLION, "backfill"));
    assertThat(seconds(table(1_000_000, 8, 1), "backfill"))
        .isGreaterThan(seconds(MILLION, "backfill"));
    for (String phase : new String[] {"backfill", "verify"}) {
      assertThat(seconds(table(1_000_000, 2, 2), phase))
          .as(phase)
          .isGreaterThan(seconds(MILLION, phase));
    }
    Estimate.Measure slowDisk =
        new Estimate.Measure(1_000_000, 100 << 20, 50 << 20, 2, 10e6, 1, false);
    for (String phase : new String[] {"index", "not_null", "verify"}) {
      assertThat(seconds(slowDisk, phase)).as(phase).isGreaterThan(seconds(MILLION, phase));
    }
  }

  @Test
  void eachRowTakesItsPlaceTwiceUntilAVacuum() {
    Estimate estimate = Estimate.of(MILLION);

    assertThat(estimate.diskBytes()).isBetween(150L << 20, 250L << 20);
    assertThat(estimate.walBytes()).isGreaterThan(estimate.diskBytes());
    assertThat(estimate.archiveBytes()).isBetween(40_000_000L, 100_000_000L);
  }

  @Test
  void mappingsBesideTheRowsCountForTheSource() {
    Estimate.Measure beside =
        new Estimate.Measure(1_000_000, 100 << 20, 50 << 20, 2, 300e6, 1, true);

    assertThat(more(beside, Estimate::diskBytes)).isEqualTo(Estimate.of(MILLION).mappingBytes());
    assertThat(more(beside, Estimate::walBytes)).isPositive();
    assertThat(more(beside, Estimate::mappingBytes)).isZero();
  }

  private static long more(Estimate.Measure table, ToLongFunction<Estimate> figure) {
    return figure.applyAsLong(Estimate.of(table)) - figure.applyAsLong(Estimate.of(MILLION));
  }

  private static Estimate.Measure table(long rows, int indexes, double slowness) {
    return new Estimate.Measure(rows, 100 << 20, 50 << 20, indexes, 300e6, slowness, false);
  }

  private static long seconds(Estimate.Measure table, String phase) {
    return Estimate.of(table).phases().stream()
        .filter(time -> time.phase().equals(phase))
        .findFirst()
        .orElseThrow()
        .seconds();
  }
}
