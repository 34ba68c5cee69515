package dev.coatcheck.core.key;

import java.util.List;

/** The outcome of asking a generator for keys. */
public sealed interface KeyOutcome {

  /** The keys, in rising order. */
  record Drawn(List<Key> keys) implements KeyOutcome {
    public Drawn {
      keys = List.copyOf(keys);
      if (keys.isEmpty()) {
        throw new IllegalArgumentException("a draw holds at least one key");
      }
    }

    /** Whether the keys are consecutive numbers, which the first key and the count describe. */
    public boolean contiguous() {
      return keys.get(0) instanceof Key.Bigint first
          && keys.get(keys.size() - 1) instanceof Key.Bigint last
          && last.value() - first.value() == keys.size() - 1;
    }
  }

  sealed interface NoKeys extends KeyOutcome {}

  /** No keys now. A repeated draw after {@code retryAfterMillis} may succeed. */
  record Refused(String reason, long retryAfterMillis) implements NoKeys {}

  /** This instance has no worker range for the layout. Another instance may have one. */
  record NoWorkerRange(String layout) implements NoKeys {}

  /** This instance has no dated worker for the layout. Another instance may have one. */
  record NoDatedWorker(String layout, List<Integer> workers) implements NoKeys {
    public NoDatedWorker {
      workers = List.copyOf(workers);
    }
  }

  /** After its last failover, this database has no dated worker left for the layout. */
  record NoDatedWorkerLeft(String layout) implements NoKeys {}

  /** No segment has the tag. */
  record UnknownSegment() implements NoKeys {}

  /** The segment has fewer numbers left than requested. */
  record SegmentExhausted() implements NoKeys {}

  /** No keys until an operator lifts the fence that a failover or a restore has raised. */
  record Fenced() implements NoKeys {}
}
