package dev.coatcheck.cluster.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkerRangesTest {
  private final List<String> faults = new ArrayList<>();

  private WorkerRanges parse(String text) {
    return WorkerRanges.parse(text, faults::add);
  }

  @Test
  void aBareRangeIsForTheDefaultLayoutOnly() {
    WorkerRanges ranges = parse("300-400");

    assertThat(ranges.of(SnowflakeLayout.DEFAULT)).contains(new WorkerRanges.Range(300, 400));
    for (SnowflakeLayout other :
        List.of(
            SnowflakeLayout.TWITTER,
            SnowflakeLayout.WIDE_SEQUENCE,
            SnowflakeLayout.REGIONAL,
            SnowflakeLayout.accepted("41/10/12@0"))) {
      assertThat(ranges.of(other)).as(other.name()).isEmpty();
    }
    assertThat(faults).isEmpty();
  }

  @Test
  void everyLayoutHasItsOwnRangeCustomOnesToo() {
    WorkerRanges ranges = parse("default=0-499, wide-sequence = 0-99,40/10/13@1700000000000=7-7");

    assertThat(ranges.of(SnowflakeLayout.DEFAULT)).contains(new WorkerRanges.Range(0, 499));
    assertThat(ranges.of(SnowflakeLayout.WIDE_SEQUENCE)).contains(new WorkerRanges.Range(0, 99));
    assertThat(ranges.of(SnowflakeLayout.accepted("40/10/13@1700000000000")))
        .contains(new WorkerRanges.Range(7, 7));
    assertThat(ranges.of(SnowflakeLayout.TWITTER)).isEmpty();
    assertThat(faults).isEmpty();
  }

  @Test
  void theHighestLeasedWorkerOfALayoutIsItsLastThatFits() {
    parse("0-1021,wide-sequence=253-253,41/1/21@0=0-1");
    assertThat(faults).isEmpty();
    parse("0-1022");
    parse("wide-sequence=253-254");
    parse("41/1/21@0=0-2");
    assertThat(faults)
        .containsExactly(
            "has 0-1022, which is not within the workers 0-1021 of layout default",
            "has 253-254, which is not within the workers 0-253 of layout wide-sequence",
            "has 0-2, which is not within the workers 0-1 of layout 41/1/21@0");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          9-3                             | 9-3, which is not within the workers 0-1021
          7                               | "7", which is no range
          0-9,                            | "", which is no range
          -1-9                            | "-1-9", which is no range
          0-99999999                      | "0-99999999", which is no range
          =0-9                            | "=0-9", which is no range
          default=0-9=1-2                 | "default=0-9=1-2", which is no range
          Default=0-9                     | layout "Default": no layout has this name
          41/10/13@0=0-9                  | layout "41/10/13@0": the bits add up to 64, not 63
          0-9,default=10-19               | two ranges for layout default
          0-9,41/10/12@1672531200000=10-19 | two ranges for layout default
          """)
  void whatIsNoRangeIsAFault(String text, String fault) {
    parse(text);

    assertThat(faults).singleElement().asString().startsWith("has ").contains(fault);
  }

  @Test
  void rangesShareTheWorkersOfGivenTimes() {
    SnowflakeLayout layout = SnowflakeLayout.DEFAULT;

    assertThat(parse("0-499").dated(layout)).containsExactly(383, 255, 127);
    assertThat(parse("500-1021").dated(layout)).containsExactly(1_021, 895, 767, 639, 511);
    assertThat(parse("512-638").dated(layout)).isEmpty();
    assertThat(parse("0-499").dated(SnowflakeLayout.TWITTER)).isEmpty();
    assertThat(parse("127-127").leased(layout)).isEmpty();
    assertThat(parse("126-127").leased(layout)).contains(new WorkerRanges.Range(126, 127));
    assertThat(WorkerRanges.unlimited().dated(layout)).isEqualTo(WorkerUses.dated(layout));
  }

  @Test
  void aPlaceIsARangeOfTheLayoutRegional() {
    WorkerRanges ranges = WorkerRanges.unlimited().inPlace("2/1", faults::add);

    assertThat(ranges.of(SnowflakeLayout.REGIONAL)).contains(new WorkerRanges.Range(272, 287));
    assertThat(ranges.of(SnowflakeLayout.DEFAULT)).isEmpty();
    assertThat(parse("0-9").inPlace("7/7", faults::add).of(SnowflakeLayout.REGIONAL))
        .contains(new WorkerRanges.Range(1_008, 1_021));
    assertThat(parse("0-9").inPlace("7/7", faults::add).of(SnowflakeLayout.DEFAULT))
        .contains(new WorkerRanges.Range(0, 9));
    assertThat(faults).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          2     | which is no place
          8/0   | region 8 is not within 0..7
          0/8   | datacentre 8 is not within 0..7
          2/1/3 | which is no place
          -1/0  | which is no place
          """)
  void whatIsNoPlaceIsAFault(String text, String fault) {
    WorkerRanges _ = WorkerRanges.unlimited().inPlace(text, faults::add);

    assertThat(faults).singleElement().asString().startsWith("has ").contains(fault);
  }

  @Test
  void aPlaceAndARangeOfOneLayoutContradictEachOther() {
    WorkerRanges _ = parse("regional=0-9").inPlace("2/1", faults::add);

    assertThat(faults).singleElement().asString().contains("which has a range already");
  }
}
