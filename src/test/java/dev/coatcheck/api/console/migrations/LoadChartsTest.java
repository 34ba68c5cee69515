package dev.coatcheck.api.console.migrations;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.page.Chart;
import dev.coatcheck.migrate.run.LoadSample;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class LoadChartsTest {
  private static final Instant BEGIN = Instant.parse("2026-11-27T12:00:00Z");

  private final List<LoadSample> load = new ArrayList<>();
  private long rows;

  /** Samples every five seconds. */
  private void goOn(int from, int seconds, int rowsPerSecond) {
    for (int second = from; second <= from + seconds; second += 5) {
      load.add(
          new LoadSample(
              BEGIN.plusSeconds(second),
              rows,
              Optional.empty(),
              Optional.empty(),
              Optional.empty()));
      rows += 5L * rowsPerSecond;
    }
  }

  @Test
  void theRateIsThatOfTheLastTwoMinutes() {
    goOn(0, 1_000, 9_000);
    goOn(1_005, 115, 100);

    assertThat(LoadCharts.rowsPerSecond(load).orElseThrow()).isBetween(100.0, 475.0);
  }

  @Test
  void aPauseCountsForNoRate() {
    goOn(0, 100, 9_000);
    goOn(160, 60, 100);

    assertThat(LoadCharts.rowsPerSecond(load)).hasValue(100);
  }

  @Test
  void thereIsNoneOfLessThanHalfAMinute() {
    assertThat(LoadCharts.rowsPerSecond(load)).isEmpty();
    goOn(0, 25, 100);
    assertThat(LoadCharts.rowsPerSecond(load)).isEmpty();
  }

  @Test
  void aRunThatStandsStillHasTheRateZero() {
    goOn(0, 300, 0);

    assertThat(LoadCharts.rowsPerSecond(load)).hasValue(0);
  }

  @Test
  void aPauseIsAsWideAsItWasLongAndTheEndOfAnOldRunIsNotNow() {
    goOn(0, 100, 100);
    goOn(1_000, 100, 100);

    Chart rows = LoadCharts.of(load, false).getFirst();

    assertThat(rows.values())
        .hasSize(1_100 / 5)
        .filteredOn(value -> value.isNaN())
        .hasSize(900 / 5);
    assertThat(rows.end()).hasValue(BEGIN.plusSeconds(1_100));
    assertThat(rows.description())
        .contains("18 min 20 s up to 2026-11-27 12:18:20 UTC: 100 at the end");
    assertThat(LoadCharts.of(load, true).getFirst().description()).contains("now 100");
  }
}
