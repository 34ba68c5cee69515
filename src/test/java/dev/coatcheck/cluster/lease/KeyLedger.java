package dev.coatcheck.cluster.lease;

import dev.coatcheck.core.key.Positions;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** Every position ever drawn, by worker, as joined spans; refuses a position that it has. */
final class KeyLedger {
  private final Map<Integer, Spans> spansByWorker = new HashMap<>();
  private long keys;

  private static final class Spans {
    final TreeMap<Long, Span> byFirst = new TreeMap<>();

    /** The span with the highest positions, behind which nearly all others are drawn. */
    Span highest = new Span(Long.MIN_VALUE, Long.MIN_VALUE);
  }

  private static final class Span {
    final long first;
    long end;

    Span(long first, long end) {
      this.first = first;
      this.end = end;
    }
  }

  void record(int worker, Positions.Run run) {
    Spans spans = spansByWorker.computeIfAbsent(worker, _ -> new Spans());
    long first = run.first();
    long end = first + run.count();
    Span below = first >= spans.highest.end ? spans.highest : below(spans, end);
    if (below.end > first) {
      throw new AssertionError(
          "duplicate: worker %d drew %d..%d, of which %d..%d was drawn before"
              .formatted(worker, first, end - 1, below.first, below.end - 1));
    }
    if (below.end == first) {
      below.end = end;
    } else {
      Span span = new Span(first, end);
      spans.byFirst.put(first, span);
      spans.highest = first > spans.highest.first ? span : spans.highest;
    }
    keys += run.count();
  }

  /** The highest span that begins before a position; an empty one if there is none. */
  private static Span below(Spans spans, long end) {
    Map.Entry<Long, Span> below = spans.byFirst.lowerEntry(end);
    return below == null ? new Span(Long.MIN_VALUE, Long.MIN_VALUE) : below.getValue();
  }

  long keys() {
    return keys;
  }
}
