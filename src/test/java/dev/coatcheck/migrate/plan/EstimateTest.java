package dev.coatcheck.migrate.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.migrate.plan.Estimate.PhaseTime;
import dev.coatcheck.migrate.table.Phase;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** What a run is said to take. */
class EstimateTest {
  private static final TableSize.Children NO_CHILDREN = new TableSize.Children(0, 0, 0);
  private static final TableSize MILLION = table(1_000_000, 2, 1);

  @Test
  void everyPhaseIsEstimatedInItsOrder() {
    assertThat(Estimate.of(MILLION, false).phases())
        .extracting(PhaseTime::phase)
        .containsExactlyElementsOf(Arrays.stream(Phase.values()).map(Phase::wireName).toList());
    assertThat(Estimate.of(MILLION, false).phases()).allMatch(time -> time.seconds() >= 1);
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
    TableSize slowDisk = table(1_000_000, 2, 10e6, 1);
    for (String phase : new String[] {"index", "not_null", "verify"}) {
      assertThat(seconds(slowDisk, phase)).as(phase).isGreaterThan(seconds(MILLION, phase));
    }
  }

  @Test
  void childrenTakeTimeDiskAndWal() {
    TableSize family =
        table(1_000_000, 2, 300e6, 1, new TableSize.Children(3_000_000, 200 << 20, 130 << 20));
    Estimate alone = Estimate.of(MILLION, false);
    Estimate together = Estimate.of(family, false);

    assertThat(seconds(family, "children")).isGreaterThan(60);
    for (String phase : new String[] {"children", "verify", "switch", "contract"}) {
      assertThat(seconds(family, phase)).as(phase).isGreaterThan(seconds(MILLION, phase));
    }
    assertThat(together.diskBytes() - alone.diskBytes()).isGreaterThan(330 << 20);
    assertThat(together.walBytes() - alone.walBytes()).isGreaterThan(600 << 20);
  }

  @Test
  void aRunThatKeepsItsPrimaryKeyHasNoTimeForTheSwitch() {
    assertThat(Estimate.of(MILLION, false).keepingPrimaryKey().phases())
        .extracting(PhaseTime::phase)
        .containsExactly("expand", "backfill", "index", "not_null", "children", "verify");
  }

  @Test
  void eachRowTakesItsPlaceTwiceUntilAVacuum() {
    Estimate estimate = Estimate.of(MILLION, false);

    assertThat(estimate.diskBytes()).isBetween(150L << 20, 250L << 20);
    assertThat(estimate.walBytes()).isGreaterThan(estimate.diskBytes());
    assertThat(estimate.archiveBytes()).isBetween(40_000_000L, 100_000_000L);
  }

  @Test
  void mappingsBesideTheRowsCountForTheSource() {
    Estimate beside = Estimate.of(MILLION, true);
    Estimate apart = Estimate.of(MILLION, false);

    assertThat(beside.diskBytes() - apart.diskBytes()).isEqualTo(apart.mappingBytes());
    assertThat(beside.walBytes()).isGreaterThan(apart.walBytes());
    assertThat(beside.mappingBytes()).isEqualTo(apart.mappingBytes());
  }

  private static TableSize table(long rows, int indexes, double slowness) {
    return table(rows, indexes, 300e6, slowness);
  }

  private static TableSize table(
      long rows, int indexes, double readBytesPerSecond, double slowness) {
    return table(rows, indexes, readBytesPerSecond, slowness, NO_CHILDREN);
  }

  private static TableSize table(
      long rows,
      int indexes,
      double readBytesPerSecond,
      double slowness,
      TableSize.Children children) {
    return new TableSize(
        rows,
        false,
        0,
        200 << 20,
        100 << 20,
        50 << 20,
        indexes,
        readBytesPerSecond,
        slowness,
        children);
  }

  private static long seconds(TableSize table, String phase) {
    return Estimate.of(table, false).phases().stream()
        .filter(time -> time.phase().equals(phase))
        .findFirst()
        .orElseThrow()
        .seconds();
  }
}
