package dev.coatcheck.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Medians and spreads. */
class SamplesTest {
  @Test
  void theMedianIsTheFigureInTheMiddleOrTheMeanOfTwo() {
    assertThat(Samples.of(5).median()).isEqualTo(5);
    assertThat(Samples.of(9, 1, 5).median()).isEqualTo(5);
    assertThat(Samples.of(10, 1, 3, 2).median()).isEqualTo(2.5);
  }

  @Test
  void theSpreadGoesFromTheLeastToTheLargest() {
    Samples samples = Samples.of(7, 3, 11, 5);

    assertThat(samples.min()).isEqualTo(3);
    assertThat(samples.max()).isEqualTo(11);
  }

  @Test
  void theRatioOfTheMediansLiesWithinTheRatiosOfTheRounds() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int run = 0; run < 1_000; run++) {
      int rounds = random.nextInt(1, 9);
      Samples measured = random(random, rounds);
      Samples baseline = random(random, rounds);

      Samples ratios = measured.over(baseline);

      assertThat(measured.median() / baseline.median())
          .as("seed %d, %s over %s", seed, measured, baseline)
          .isBetween(ratios.min() - 1e-9, ratios.max() + 1e-9);
    }
  }

  private static Samples random(Random random, int rounds) {
    return new Samples(random.doubles(rounds, 1, 1_000).boxed().toList());
  }

  @Test
  void aRoundIsComparedWithTheSameRoundOfTheBaseline() {
    assertThat(Samples.of(10, 30).over(Samples.of(5, 10)).values()).containsExactly(2.0, 3.0);
    assertThatThrownBy(() -> Samples.of(1).over(Samples.of(1, 2)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void onlyFiguresThatDoNotOverlapAreApart() {
    assertThat(Samples.of(1, 2).isApartFrom(Samples.of(3, 4))).isTrue();
    assertThat(Samples.of(3, 4).isApartFrom(Samples.of(1, 2))).isTrue();
    assertThat(Samples.of(1, 3).isApartFrom(Samples.of(2, 4))).isFalse();
    assertThat(Samples.of(1, 2).isApartFrom(Samples.of(2, 3))).isFalse();
  }

  @Test
  void noFigureAtAllAndNoNumberAreRefused() {
    for (List<Double> odd : List.of(List.<Double>of(), List.of(Double.NaN), List.of(1 / 0.0))) {
      assertThatThrownBy(() -> new Samples(odd)).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
