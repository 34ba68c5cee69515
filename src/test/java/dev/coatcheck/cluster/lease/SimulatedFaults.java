package dev.coatcheck.cluster.lease;

import static dev.coatcheck.cluster.lease.Simulation.MILLI;

import java.util.Random;

/** What goes wrong in a simulated run, and how far keys may be from the database's time. */
final class SimulatedFaults {
  private static final long[] JUMPS_MILLIS = {100, 3_000, 3_600_000};

  private final Simulation simulation;
  private final Weather weather;
  private final Random random;
  private boolean calm;
  private long primary;
  private long downUntil;
  private int partitioned = -1;
  private long partitionedUntil;
  private long behindMax;
  private long aheadMax;

  SimulatedFaults(Simulation simulation, Weather weather) {
    this.simulation = simulation;
    this.weather = weather;
    this.random = simulation.random();
    Weather.Faults faults = weather.faults();
    // Where they close windows, more of them would leave few leases to go wrong in other ways.
    boolean isRare = !weather.fair() && simulation.mode().watchesWallClock;
    every(isRare ? 60_000 : weather.fair() ? 10_000 : 5_000, this::jumpWall);
    every(faults.stopEveryMillis(), this::stop);
    every(faults.killEveryMillis(), () -> simulation.replace(anyNode()));
    every(faults.partitionEveryMillis(), this::partition);
    every(faults.databaseJumpEveryMillis(), this::jumpDatabase);
    every(faults.failOverEveryMillis(), this::failOver);
  }

  /** No new faults from here on. */
  void calm() {
    calm = true;
  }

  private void every(long meanMillis, Runnable fault) {
    if (meanMillis > 0) {
      simulation.after(
          (long) (-Math.log(1 - random.nextDouble()) * meanMillis * MILLI),
          () -> {
            if (!calm) {
              fault.run();
              every(meanMillis, fault);
            }
          });
    }
  }

  private int anyNode() {
    return random.nextInt(weather.nodes());
  }

  private void stop() {
    // Around the window, or past the lease, so that someone else has the worker on waking.
    long millis = random.nextBoolean() ? random.nextInt(6_000) : 14_000 + random.nextInt(20_000);
    simulation.node(anyNode()).stop(millis * MILLI, random.nextBoolean());
  }

  private void partition() {
    partitioned = anyNode();
    partitionedUntil = simulation.now() + random.nextInt(40_000) * MILLI;
  }

  private void jumpWall() {
    // Where a jump closes windows, a larger one may refuse a mint.
    boolean isSmall = weather.fair() && simulation.mode().watchesWallClock;
    long millis = JUMPS_MILLIS[isSmall ? 0 : random.nextInt(JUMPS_MILLIS.length)];
    simulation.node(anyNode()).jumpWall((random.nextBoolean() ? millis : -millis) * MILLI);
  }

  private void jumpDatabase() {
    long millis = JUMPS_MILLIS[random.nextInt(JUMPS_MILLIS.length)];
    simulation.jumpDatabase(random.nextBoolean() ? millis : -millis);
  }

  private void failOver() {
    primary++;
    downUntil = simulation.now() + random.nextInt(5_000) * MILLI;
    simulation.failOver(
        lagMillis() * MILLI, random.nextInt(10_000) - 5_000, random.nextInt(4) == 0);
  }

  /** None, that of a good network, or that of a standby which nobody watches. */
  private long lagMillis() {
    return switch (random.nextInt(4)) {
      case 0, 1 -> 0;
      case 2 -> random.nextInt(1_500);
      default -> random.nextInt(40_000);
    };
  }

  long primary() {
    return primary;
  }

  long delay() {
    boolean slow = random.nextInt(20) == 0;
    return (slow ? random.nextLong(weather.delayMillisMax()) + 1 : 1) * random.nextLong(MILLI);
  }

  /** How long a gateway stands still with a request: mostly not at all. */
  long stallOfGateway() {
    return weather.fair() || calm || random.nextInt(200) > 0 ? 0 : random.nextLong(25_000) * MILLI;
  }

  boolean lost(SimulatedNode node) {
    boolean cut =
        partitioned >= 0
            && simulation.node(partitioned) == node
            && simulation.now() < partitionedUntil;
    return cut || simulation.now() < downUntil || (!calm && random.nextDouble() < weather.loss());
  }

  void maybeStall(SimulatedNode node) {
    if (!weather.fair() && !calm && !simulation.nested() && random.nextInt(5_000) == 0) {
      node.stop(random.nextInt(25_000) * MILLI, random.nextBoolean());
      node.pause(0);
    }
  }

  void nearTime(long behindMillis, long aheadMillis) {
    behindMax = Math.max(behindMax, behindMillis);
    aheadMax = Math.max(aheadMax, aheadMillis);
    if (behindMillis > simulation.mode().behindMillisMax || aheadMillis > 5 + 2) {
      throw new AssertionError(
          "a key %d ms behind and %d ms ahead of the database's time"
              .formatted(behindMillis, aheadMillis));
    }
  }

  @Override
  public String toString() {
    return "at most %d ms behind, %d ms ahead".formatted(behindMax, aheadMax);
  }
}
