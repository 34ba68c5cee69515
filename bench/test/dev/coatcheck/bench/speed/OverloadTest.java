package dev.coatcheck.bench.speed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.bench.load.LoadResult;
import dev.coatcheck.bench.report.Row;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is read from the seconds of an overload. */
class OverloadTest {
  private static final LoadResult CALM = new LoadResult(100, 0, 0, 1, 1, 2, List.of());

  private static LoadResult.Second second(
      int number, long served, long refused, double p99Millis, double refusedP99Millis) {
    return new LoadResult.Second(number, 0, served, refused, 0, p99Millis, refusedP99Millis);
  }

  private static LoadResult of(LoadResult.Second... seconds) {
    return new LoadResult(1, 1, 0, seconds.length, 1, 1, List.of(seconds));
  }

  @Test
  void aGatewayThatRefusesFastAndServesItsCapacityMeetsAllGoals() {
    List<Row> rows =
        Overload.judge(
            of(second(0, 950, 2000, 6, 40), second(1, 900, 2000, 5, 49), second(2, 3, 1, 99, 99)),
            2,
            1_000,
            CALM,
            of(second(0, 10, 1, 2, 1), second(1, 10, 0, 6, 0)));

    assertThat(rows).extracting(Row::name).containsExactly("goodput", "p99", "refusal", "recovery");
    assertThat(rows).extracting(Row::verdict).containsOnly(Row.Verdict.MET);
    assertThat(rows.getFirst().measured().values()).containsExactly(0.95, 0.9);
    assertThat(rows.getLast().measured().values()).containsExactly(1.0);
  }

  @Test
  void eachGoalCanBeMissed() {
    LoadResult.Second late = second(5, 10, 0, 7, 0);
    List<Row> rows =
        Overload.judge(
            of(second(0, 0, 2000, 0, 60), second(1, 890, 2000, 6.2, 51)), 2, 1_000, CALM, of(late));

    assertThat(rows).extracting(Row::verdict).containsOnly(Row.Verdict.MISSED);
    assertThat(rows.get(1).measured().values()).containsExactly(3.1); // of the second that served
  }

  @Test
  void whereNothingIsRefusedNoRefusalIsSlow() {
    List<Row> rows = Overload.judge(of(second(0, 1000, 0, 2, 0)), 1, 1_000, CALM, of());

    assertThat(rows).extracting(Row::verdict).containsOnly(Row.Verdict.MET);
  }
}
