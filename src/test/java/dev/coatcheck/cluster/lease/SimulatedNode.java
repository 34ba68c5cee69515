package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.KeyReservation;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.Waiter;
import java.util.Optional;
import java.util.function.Consumer;

/** One gateway: the production code, on a clock that drifts, in a process that can be stopped. */
final class SimulatedNode implements Waiter {
  private static final long SOCKET_NANOS_MAX = 800_000_000L;

  private final Simulation simulation;
  private final LeaseSettings settings;
  private final double rate;
  private final LeaseKeeper keeper;
  private final WallWatch wall;

  /** What the process has missed while its machine was suspended. */
  private long suspendedNanos;

  private long wallOffsetNanos;
  private long pausedUntil;
  private boolean dead;
  private long call;

  SimulatedNode(
      Simulation simulation, LeaseSettings settings, Defect defect, Consumer<LeaseEvent> events) {
    this.simulation = simulation;
    this.settings = settings;
    this.rate = 1 + (simulation.random().nextDouble() * 2 - 1) * 500e-6;
    this.keeper =
        new LeaseKeeper(settings.layout(), new StallingRules(defect.rules()), events, nanoTime());
    this.wall = new WallWatch(() -> (simulation.now() + wallOffsetNanos) / Simulation.MILLI);
    drive();
  }

  private boolean watchesWallClock() {
    return simulation.mode().watchesWallClock;
  }

  @Override
  public long nanoTime() {
    long nanos = (long) (simulation.now() * rate) - suspendedNanos;
    return simulation.defect() == Defect.WALL_CLOCK ? simulation.now() + wallOffsetNanos : nanos;
  }

  @Override
  public void pause(long nanos) {
    simulation.runUntil(Math.max(simulation.now() + nanos, pausedUntil));
  }

  boolean stopped() {
    return dead || pausedUntil > simulation.now();
  }

  /** Stops the process; a suspended machine's monotonic clock stops too. */
  void stop(long nanos, boolean suspended) {
    long runningFrom = Math.max(pausedUntil, simulation.now());
    pausedUntil = Math.max(pausedUntil, simulation.now() + nanos);
    suspendedNanos += suspended ? Math.max(0, pausedUntil - runningFrom) : 0;
  }

  void kill() {
    dead = true;
  }

  void jumpWall(long nanos) {
    wallOffsetNanos += nanos;
  }

  /** Draws; within another draw's wait only what is there at once, or waits would nest for ever. */
  KeyOutcome draw(int count) {
    return KeyReservation.draw(
        count,
        settings.layout(),
        wanted -> {
          KeyReservation run = keeper.reserve(wanted, nanoTime());
          if (run instanceof KeyReservation.Some(var positions, int worker)) {
            simulation.drawn(worker, positions);
          }
          return simulation.nested()
                  && run instanceof KeyReservation.Wait(String reason, long after)
              ? new KeyReservation.Never(reason, after)
              : run;
        },
        this);
  }

  /** Runs code of this process after a delay, later if it is stopped then, never if it is dead. */
  private void after(long nanos, Runnable code) {
    simulation.after(
        nanos,
        () -> {
          if (dead) {
            return;
          }
          if (pausedUntil > simulation.now()) {
            after(pausedUntil - simulation.now() + simulation.random().nextInt(1_000_000), code);
          } else {
            code.run();
          }
        });
  }

  private void drive() {
    if (watchesWallClock() && wall.ranAhead(nanoTime())) {
      keeper.closeEarly(nanoTime());
    }
    switch (keeper.next(nanoTime())) {
      case LeaseKeeper.Step.Sleep(long nanos) ->
          after(watchesWallClock() ? Math.min(nanos, WallWatch.EVERY_NANOS) : nanos, this::drive);
      case LeaseKeeper.Step.Send(LeaseRequest request) -> {
        long sentNano = nanoTime();
        wall.sending(sentNano);
        long thisCall = ++call;
        Consumer<LeaseReply> answered =
            reply -> {
              if (call == thisCall) {
                call++;
                keeper.replied(request, reply, sentNano, nanoTime());
                if (reply instanceof LeaseReply.Acquired || reply instanceof LeaseReply.Renewed) {
                  wall.settled();
                }
                drive();
              }
            };
        // Between deciding and sending the process may be stopped.
        after(
            simulation.random().nextInt(20_000),
            () -> {
              simulation.send(this, request, reply -> after(0, () -> answered.accept(reply)));
              after(SOCKET_NANOS_MAX, () -> answered.accept(new LeaseReply.Failed("time-out")));
            });
      }
    }
  }

  /** Empty if there are keys now, or in a millisecond; otherwise why there are none. */
  Optional<String> shortage() {
    return switch (keeper.reserve(1, nanoTime())) {
      case KeyReservation.Some _ -> Optional.empty();
      case KeyReservation.Wait(String reason, long millis) ->
          millis > settings.layout().tickMillis() ? Optional.of(reason) : Optional.empty();
      case KeyReservation.Never(String reason, long _) -> Optional.of(reason);
    };
  }

  /** Now and then the thread stops between reading the window and using it. */
  private final class StallingRules extends LeaseRules {
    private final LeaseRules rules;

    StallingRules(LeaseRules rules) {
      this.rules = rules;
    }

    @Override
    long lastMillis(long untilMillis, long estimateMillis) {
      simulation.maybeStall(SimulatedNode.this);
      return rules.lastMillis(untilMillis, estimateMillis);
    }

    @Override
    long firstPosition(SnowflakeLayout layout, long millis) {
      return rules.firstPosition(layout, millis);
    }

    @Override
    ClockEstimate renewed(ClockEstimate before, long nowMillis, long sentNano, long receivedNano) {
      return rules.renewed(before, nowMillis, sentNano, receivedNano);
    }
  }
}
