package dev.coatcheck.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Rounds in which a measure and its baselines take turns, so that what the machine does beside
 * meets all of them. Before, each warms up, which doesn't count: the gateway, which comes first and
 * has far more code to compile than its baselines, for longer.
 *
 * @param round how long one turn takes
 * @param rounds how many count
 */
record InterleavedRounds(Duration round, int rounds, Progress progress) {
  private static final int FIRST_WARM_UP_ROUNDS = 4;
  private static final int OTHER_WARM_UP_ROUNDS = 1;

  /** Something that can be kept busy for a while. */
  @FunctionalInterface
  interface Side {
    Pace during(Duration time);
  }

  /** The median pace of each side. */
  List<Pace> take(List<Side> sides) {
    List<List<Pace>> paces =
        IntStream.range(0, sides.size()).<List<Pace>>mapToObj(_ -> new ArrayList<>()).toList();
    for (int i = 0; i < sides.size(); i++) {
      int warmUp = i == 0 ? FIRST_WARM_UP_ROUNDS : OTHER_WARM_UP_ROUNDS;
      sides.get(i).during(round.multipliedBy(warmUp));
      progress.advanced(warmUp);
    }
    for (int turn = 0; turn < rounds; turn++) {
      for (int i = 0; i < sides.size(); i++) {
        paces.get(i).add(sides.get(i).during(round));
        progress.advanced(1);
      }
    }
    return paces.stream().map(Pace::median).toList();
  }

  /** What {@link #take} advances by. */
  static int steps(int sides, int rounds) {
    return sides == 0
        ? 0
        : FIRST_WARM_UP_ROUNDS + (sides - 1) * OTHER_WARM_UP_ROUNDS + sides * rounds;
  }
}
