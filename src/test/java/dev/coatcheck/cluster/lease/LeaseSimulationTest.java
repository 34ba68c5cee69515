package dev.coatcheck.cluster.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.Breakage;
import dev.coatcheck.BrokenBy;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs are drawn from {@code -Dsimulation.seed}, or from a fixed seed; a failure names its own. */
class LeaseSimulationTest {
  private static final long SEED = Long.getLong("simulation.seed", 8);
  private static final int RUNS = Integer.getInteger("simulation.runs", 8);

  /**
   * Sonyflake's, uid-generator's as its documentation has it, and ticks of 4 ms in other orders.
   */
  private static final List<SnowflakeLayout> LONG_TICKS =
      List.of(
          SnowflakeLayout.accepted("39x10/s8/16@1735689600000"),
          SnowflakeLayout.accepted("29x1000/21/13@1463673600000"),
          SnowflakeLayout.accepted("39x4/4/s12/8@1672531200000"));

  private static final List<Weather> FOUL =
      List.of(Weather.FOUL, Weather.JUMPY, Weather.STORM, Weather.TAKEN);

  @Test
  @BrokenBy({"window-ignored", "renew-without-epoch", "registered-without-rest", "system-ignored"})
  void noKeyIsMadeTwiceInAnyWeather() {
    long steps = 0;
    long keys = 0;
    for (long seed = SEED; seed < SEED + runs(RUNS); seed++) {
      Simulation simulation = run(seed, SnowflakeLayout.DEFAULT, weather(seed), 240_000);
      steps += simulation.steps();
      keys += simulation.keys();
    }
    System.out.printf("foul weather: %,d steps, %,d keys, no duplicate%n", steps, keys);
    assertThat(keys).isGreaterThan(steps / 2);
  }

  @Test
  @BrokenBy({"window-ignored", "renew-without-epoch", "registered-without-rest", "system-ignored"})
  void noKeyOfALibraryOnPostgresIsMadeTwiceInAnyWeather() {
    libraryInFoulWeather(LeasedMode.DIRECT, libraryRuns());
  }

  @Test
  @BrokenBy({"window-ignored", "renew-without-epoch", "registered-without-rest", "system-ignored"})
  void noKeyOfALibraryBehindAGatewayIsMadeTwiceInAnyWeather() {
    libraryInFoulWeather(LeasedMode.HTTP, libraryRuns());
  }

  @Test
  @BrokenBy({"base-fixed", "wall-clock"})
  void noKeyOfALibraryIsRefusedInFairWeather() {
    for (LeasedMode mode : List.of(LeasedMode.DIRECT, LeasedMode.HTTP)) {
      for (long seed = SEED; seed < SEED + runs(RUNS / 6); seed++) {
        Simulation run = run(seed, SnowflakeLayout.DEFAULT, Weather.FAIR, mode, 120_000);
        assertThat(run.keys()).isPositive();
      }
    }
  }

  private static int libraryRuns() {
    return Defect.current() == Defect.NONE ? RUNS / 4 : runs(RUNS);
  }

  private static void libraryInFoulWeather(LeasedMode mode, int runs) {
    long steps = 0;
    long keys = 0;
    for (long seed = SEED; seed < SEED + runs; seed++) {
      Simulation simulation = run(seed, SnowflakeLayout.DEFAULT, weather(seed), mode, 240_000);
      steps += simulation.steps();
      keys += simulation.keys();
    }
    System.out.printf("%s: %,d steps, %,d keys, no duplicate%n", mode, steps, keys);
    assertThat(keys).isPositive();
  }

  /** Ten million steps of each mode. */
  @ParameterizedTest
  @EnumSource(
      value = LeasedMode.class,
      names = {"DIRECT", "HTTP"})
  @Tag("faults")
  void noKeyOfALibraryIsMadeTwiceInTenMillionSteps(LeasedMode mode) {
    long steps = 0;
    long keys = 0;
    for (long seed = SEED; steps < 10_000_000; seed++) {
      Simulation simulation = run(seed, SnowflakeLayout.DEFAULT, weather(seed), mode, 240_000);
      steps += simulation.steps();
      keys += simulation.keys();
    }
    System.out.printf("%s: %,d steps, %,d keys, no duplicate%n", mode, steps, keys);
    assertThat(keys).isPositive();
  }

  /**
   * A machine is suspended, and its monotonic clock with it, while others go on and have its worker
   * long before it wakes.
   */
  @Test
  @Tag("faults")
  @BrokenBy("window-ignored")
  void noKeyOfALibraryIsMadeTwiceAfterAnHourOfStandstill() {
    long minute = 60_000 * Simulation.MILLI;
    for (LeasedMode mode : List.of(LeasedMode.DIRECT, LeasedMode.HTTP)) {
      Simulation simulation =
          new Simulation(SEED, SnowflakeLayout.DEFAULT, Weather.CROWDED, mode, Defect.current());
      SimulatedNode suspended = simulation.node(0);
      simulation.runUntil(minute / 6);

      suspended.stop(60 * minute, true);
      simulation.runUntil(61 * minute);
      simulation.calm();
      simulation.runUntil(64 * minute);

      assertThat(suspended.shortage()).isEmpty();
      simulation.requireRecovery();
      System.out.printf("an hour of standstill, %s: %s%n", mode, simulation);
    }
  }

  @Test
  @BrokenBy("window-ignored")
  void noKeyOfLongTicksIsMadeTwiceInAnyWeather() {
    long keys = 0;
    for (long seed = SEED; seed < SEED + runs(RUNS / 2); seed++) {
      SnowflakeLayout layout = LONG_TICKS.get((int) (seed % LONG_TICKS.size()));
      // Not in step with the layouts, so that each comes in each weather.
      Weather weather = FOUL.get((int) (seed / LONG_TICKS.size() % FOUL.size()));
      keys += run(seed, layout, weather, 240_000).keys();
    }
    System.out.printf("foul weather, long ticks: %,d keys, no duplicate%n", keys);
    assertThat(keys).isPositive();
  }

  /** Sequences with room for all that is drawn here. */
  @ParameterizedTest
  @ValueSource(strings = {"39x10/s14/10@1735689600000", "40x4/6/s13/4@1672531200000"})
  void noMintOfLongTicksIsRefusedInFairWeather(String layout) {
    for (long seed = SEED; seed < SEED + RUNS / 10; seed++) {
      run(seed, SnowflakeLayout.accepted(layout), Weather.FAIR, 60_000);
    }
  }

  @Test
  @BrokenBy({"base-fixed", "wall-clock"})
  void noMintIsRefusedInFairWeather() {
    long steps = 0;
    long keys = 0;
    for (long seed = SEED; seed < SEED + runs(RUNS / 3); seed++) {
      Simulation simulation = run(seed, SnowflakeLayout.DEFAULT, Weather.FAIR, 120_000);
      steps += simulation.steps();
      keys += simulation.keys();
    }
    System.out.printf("fair weather: %,d steps, %,d keys, no refusal%n", steps, keys);
    assertThat(keys).isGreaterThan(steps / 2);
  }

  /** Each in turn; for a defect that in which it shows most often. */
  private static Weather weather(long seed) {
    return switch (Defect.current()) {
      case NONE -> FOUL.get((int) (seed % FOUL.size()));
      case REGISTERED_WITHOUT_REST -> Weather.STORM;
      case RENEW_WITHOUT_EPOCH -> Weather.TAKEN;
      default -> Weather.FOUL;
    };
  }

  /** A defect shows in some runs only, the rarest in one of hundreds; the search ends with it. */
  private static int runs(int usual) {
    return Defect.current() == Defect.NONE ? usual : 100 * usual;
  }

  @Tag("faults")
  @TestFactory
  Stream<DynamicTest> everyDefectIsFound() {
    return Breakage.requireRed(this, test -> !isOfLibrary(test));
  }

  @TestFactory
  @Tag("faults") // minutes: some defects show in one of a hundred runs
  Stream<DynamicTest> everyDefectOfALibraryIsFound() {
    return Breakage.requireRed(this, LeaseSimulationTest::isOfLibrary);
  }

  private static boolean isOfLibrary(Method test) {
    return test.getName().startsWith("noKeyOfALibrary");
  }

  private static Simulation run(long seed, SnowflakeLayout layout, Weather weather, long millis) {
    return run(seed, layout, weather, LeasedMode.GATEWAY, millis);
  }

  private static Simulation run(
      long seed, SnowflakeLayout layout, Weather weather, LeasedMode mode, long millis) {
    Simulation simulation = new Simulation(seed, layout, weather, mode, Defect.current());
    try {
      simulation.runUntil(millis * Simulation.MILLI);
      simulation.calm();
      simulation.runUntil((millis + 120_000) * Simulation.MILLI);
      simulation.requireRecovery();
      return simulation;
    } catch (AssertionError broken) {
      throw new AssertionError(
          "simulation.seed=%d, layout %s, %s: %s"
              .formatted(seed, layout.name(), mode, broken.getMessage()),
          broken);
    }
  }
}
