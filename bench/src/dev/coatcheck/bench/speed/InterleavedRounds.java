package dev.coatcheck.bench.speed;

import dev.coatcheck.bench.load.LoadResult;
import dev.coatcheck.bench.machine.CpuClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Rounds in which a measure and its baselines take turns, so that what the machine does beside
 * meets all of them. Before, each warms up, which doesn't count: the gateway, which comes first and
 * has far more code to compile than its baselines, for longer.
 *
 * @param round how long one turn takes
 * @param rounds how many count
 * @param warmUp how long the first side warms up; may be zero
 * @param stage hears what is done now
 */
record InterleavedRounds(
    Duration round, int rounds, Duration warmUp, CpuClock postgres, Consumer<String> stage) {
  private static final int OTHERS_WARM_UP_PART = 12;

  /** The rounds of each side. */
  List<Turns> take(String measure, List<Side> sides) {
    stage.accept(measure + ": warms up");
    for (int i = 0; i < sides.size() && warmUp.isPositive(); i++) {
      Side side = sides.get(i);
      LoadResult _ = side.busy().during(i == 0 ? warmUp : warmUp.dividedBy(OTHERS_WARM_UP_PART));
    }
    return alternate(measure, sides);
  }

  /** As above, of sides that are warm. */
  List<Turns> alternate(String measure, List<Side> sides) {
    List<List<Side.Turn>> turns =
        IntStream.range(0, sides.size()).<List<Side.Turn>>mapToObj(_ -> new ArrayList<>()).toList();
    for (int number = 1; number <= rounds; number++) {
      stage.accept(measure + ": round " + number + " of " + rounds);
      for (int i = 0; i < sides.size(); i++) {
        turns.get(i).add(sides.get(i).during(round, postgres));
      }
    }
    return IntStream.range(0, sides.size())
        .mapToObj(i -> new Turns(sides.get(i), turns.get(i)))
        .toList();
  }
}
