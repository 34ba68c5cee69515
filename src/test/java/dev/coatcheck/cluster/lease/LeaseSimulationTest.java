package dev.coatcheck.cluster.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.Breakage;
import dev.coatcheck.BrokenBy;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Runs are drawn from {@code -Dsimulation.seed}, or from a fixed seed; a failure names its own. */
class LeaseSimulationTest {
  private static final long SEED = Long.getLong("simulation.seed", 1);
  private static final int RUNS = Integer.getInteger("simulation.runs", 30);

  private static final List<Weather> FOUL = List.of(Weather.FOUL, Weather.JUMPY, Weather.STORM);

  @Test
  @BrokenBy({"window-ignored", "renew-without-epoch", "registered-without-rest", "system-ignored"})
  void noKeyIsMadeTwiceInAnyWeather() {
    long steps = 0;
    long keys = 0;
    for (long seed = SEED; seed < SEED + runs(RUNS); seed++) {
      Simulation simulation = run(seed, FOUL.get((int) (seed % FOUL.size())), 240_000);
      steps += simulation.steps();
      keys += simulation.keys();
    }
    System.out.printf("foul weather: %,d steps, %,d keys, no duplicate%n", steps, keys);
    assertThat(keys).isGreaterThan(steps / 2);
  }

  @Test
  @BrokenBy({"base-fixed", "wall-clock"})
  void noMintIsRefusedInFairWeather() {
    long steps = 0;
    long keys = 0;
    for (long seed = SEED; seed < SEED + runs(RUNS / 3); seed++) {
      Simulation simulation = run(seed, Weather.FAIR, 120_000);
      steps += simulation.steps();
      keys += simulation.keys();
    }
    System.out.printf("fair weather: %,d steps, %,d keys, no refusal%n", steps, keys);
    assertThat(keys).isGreaterThan(steps / 2);
  }

  /** A defect shows in some runs only; the search ends with the first. */
  private static int runs(int usual) {
    return Defect.current() == Defect.NONE ? usual : 20 * usual;
  }

  @TestFactory
  Stream<DynamicTest> everyDefectIsFound() {
    return Breakage.requireRed(this);
  }

  private static Simulation run(long seed, Weather weather, long millis) {
    Simulation simulation = new Simulation(seed, weather, Defect.current());
    try {
      simulation.runUntil(millis * Simulation.MILLI);
      simulation.calm();
      simulation.runUntil((millis + 120_000) * Simulation.MILLI);
      simulation.requireRecovery();
      return simulation;
    } catch (AssertionError broken) {
      throw new AssertionError(
          "simulation.seed=%d: %s".formatted(seed, broken.getMessage()), broken);
    }
  }
}
