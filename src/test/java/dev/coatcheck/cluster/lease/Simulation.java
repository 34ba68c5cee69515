package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.Positions;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.Consumer;

/**
 * Gateways, a network and a database in one thread and in simulated time. The same seed is the same
 * run. Throws an {@link AssertionError} at the first promise broken.
 */
final class Simulation {
  private record Event(long at, long order, Runnable code) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
    }
  }

  static final long MILLI = 1_000_000L;
  private static final long DATABASE_EPOCH_NANOS = 1_780_000_000_000L * MILLI;

  private final Random random;
  private final Weather weather;
  private final Defect defect;
  private final LeasedMode mode;
  private final LeaseSettings settings;
  private final SimulatedRows rows;
  private final SimulatedFaults faults;
  private final KeyLedger ledger = new KeyLedger();
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final List<SimulatedNode> nodes = new ArrayList<>();

  private long now;
  private long order;
  private long steps;
  private int depth;
  private long databaseOffsetNanos;
  private long refused;

  Simulation(long seed, SnowflakeLayout layout, Weather weather, Defect defect) {
    this(seed, layout, weather, LeasedMode.GATEWAY, defect);
  }

  Simulation(long seed, SnowflakeLayout layout, Weather weather, LeasedMode mode, Defect defect) {
    this.mode = mode;
    this.random = new Random(seed);
    this.weather = weather;
    this.defect = defect;
    this.settings = new LeaseSettings(layout, 0, weather.workers() - 1, "node", 3_000);
    this.rows = new SimulatedRows(settings, defect, SimulatedRows.Life.FIRST);
    for (int i = 0; i < weather.nodes(); i++) {
      nodes.add(null);
      replace(i);
      int index = i;
      after(random.nextLong(10 * MILLI), () -> load(index));
    }
    this.faults = new SimulatedFaults(this, weather);
  }

  Random random() {
    return random;
  }

  long now() {
    return now;
  }

  Defect defect() {
    return defect;
  }

  LeasedMode mode() {
    return mode;
  }

  boolean nested() {
    return depth > 1;
  }

  long steps() {
    return steps;
  }

  long keys() {
    return ledger.keys();
  }

  void after(long nanos, Runnable code) {
    events.add(new Event(now + nanos, order++, code));
  }

  void runUntil(long until) {
    depth++;
    while (!events.isEmpty() && events.peek().at() <= until) {
      Event event = events.poll();
      now = Math.max(now, event.at());
      steps++;
      event.code().run();
    }
    now = Math.max(now, until);
    depth--;
  }

  /** A new process in the place of the old one. */
  void replace(int index) {
    SimulatedNode before = nodes.get(index);
    if (before != null) {
      before.kill();
    }
    nodes.set(index, new SimulatedNode(this, settings, defect, _ -> {}));
  }

  SimulatedNode node(int index) {
    return nodes.get(index);
  }

  private void load(int index) {
    SimulatedNode node = nodes.get(index);
    if (!node.stopped()) {
      int count = random.nextInt(400) == 0 ? 1 + random.nextInt(16_384) : 1 + random.nextInt(20);
      KeyOutcome draw = node.draw(count);
      if (draw instanceof KeyOutcome.Refused(String reason, long _) && !node.stopped()) {
        refused(reason);
      }
    }
    after(random.nextLong(12 * MILLI), () -> load(index));
  }

  private void refused(String reason) {
    refused++;
    if (weather.fair() && now > 500 * MILLI && depth == 1) {
      throw new AssertionError(
          "refused in fair weather at %d ms: %s".formatted(now / MILLI, reason));
    }
  }

  void drawn(int worker, Positions.Run run) {
    ledger.record(worker, run);
    if (weather.fair()) {
      long databaseMillis = databaseMillis();
      long behind = databaseMillis - settings.layout().millisOf(run.first());
      long ahead = settings.layout().millisOf(run.first() + run.count() - 1) - databaseMillis;
      // The time of a key is when its tick began.
      faults.nearTime(behind - settings.layout().tickMillis() + 1, ahead);
    }
  }

  long databaseMillis() {
    return (DATABASE_EPOCH_NANOS + now + databaseOffsetNanos) / MILLI;
  }

  void jumpDatabase(long millis) {
    databaseOffsetNanos += millis * MILLI;
  }

  /** A standby takes over, or a copy on another system; what they have not seen is lost. */
  void failOver(long lagNanos, long skewMillis, boolean toAnotherSystem) {
    rows.failOver(now - lagNanos, toAnotherSystem);
    jumpDatabase(skewMillis);
  }

  /** One request over a connection to today's primary, and its reply; either may be lost. */
  void send(SimulatedNode node, LeaseRequest request, Consumer<LeaseReply> answer) {
    if (mode == LeasedMode.HTTP) {
      after(
          faults.delay() + faults.stallOfGateway(),
          () -> sendToDatabase(node, atGateway(request), answer));
    } else {
      sendToDatabase(node, request, answer);
    }
  }

  /** A gateway refuses a mark of the far future: such a renewal names no lease. */
  private LeaseRequest atGateway(LeaseRequest request) {
    long markMax =
        databaseMillis()
            + LeaseSettings.WINDOW_MILLIS_MAX
            + LeaseSettings.REST_BEYOND_WINDOW_MILLIS;
    return request instanceof LeaseRequest.Renew renew && renew.untilMillis() > markMax
        ? new LeaseRequest.Renew(renew.worker(), -1, renew.untilMillis())
        : request;
  }

  private void sendToDatabase(
      SimulatedNode node, LeaseRequest request, Consumer<LeaseReply> answer) {
    long primary = faults.primary();
    after(
        faults.delay(),
        () -> {
          if (faults.lost(node) || faults.primary() != primary) {
            return;
          }
          LeaseReply reply = rows.execute(request, databaseMillis(), random);
          if (weather.faults().failOverEveryMillis() > 0) {
            rows.save(now);
          }
          after(
              faults.delay(),
              () -> {
                if (!faults.lost(node)) {
                  answer.accept(reply);
                }
              });
        });
  }

  void maybeStall(SimulatedNode node) {
    faults.maybeStall(node);
  }

  void calm() {
    faults.calm();
  }

  /** After two minutes of calm every node must mint. */
  void requireRecovery() {
    for (SimulatedNode node : nodes) {
      if (weather.recovers() && node.shortage().isPresent()) {
        throw new AssertionError("a node never minted again: " + node.shortage());
      }
    }
  }

  @Override
  public String toString() {
    return "%d steps, %d keys, %d refused, %s".formatted(steps, keys(), refused, faults);
  }
}
