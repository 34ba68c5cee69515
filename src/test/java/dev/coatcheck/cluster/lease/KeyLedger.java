package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.Positions;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** Every position ever drawn, by worker, as joined spans; refuses a position that it has. */
final class KeyLedger {
  private final Map<Integer, TreeMap<Long, Long>> endsByFirst = new HashMap<>();
  private long keys;

  void record(int worker, Positions.Run run) {
    TreeMap<Long, Long> spans = endsByFirst.computeIfAbsent(worker, _ -> new TreeMap<>());
    long first = run.first();
    long end = first + run.count();
    Map.Entry<Long, Long> below = spans.lowerEntry(end);
    if (below != null && below.getValue() > first) {
      throw new AssertionError(
          "duplicate: worker %d drew %d..%d, of which %d..%d was drawn before"
              .formatted(worker, first, end - 1, below.getKey(), below.getValue() - 1));
    }
    if (below != null && below.getValue() == first) {
      first = below.getKey();
    }
    spans.put(first, end);
    keys += run.count();
  }

  long keys() {
    return keys;
  }
}
