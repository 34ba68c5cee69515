package dev.coatcheck.core.key;

import java.util.List;

/** The result of a draw of keys. */
public sealed interface KeyDraw {

  /** The keys, rising. */
  record Drawn(List<Key> keys) implements KeyDraw {
    public Drawn {
      keys = List.copyOf(keys);
      if (keys.isEmpty()) {
        throw new IllegalArgumentException("a draw holds at least one key");
      }
    }

    /** True when the keys are consecutive numbers, so that the first and the count say it all. */
    public boolean contiguous() {
      return keys.getFirst() instanceof Key.Bigint(long first)
          && keys.getLast() instanceof Key.Bigint(long last)
          && last - first == keys.size() - 1;
    }
  }

  /** No keys. */
  sealed interface NoKeys extends KeyDraw {}

  /** No keys now; asking again after {@code retryAfterMillis} may succeed. */
  record Refused(String reason, long retryAfterMillis) implements NoKeys {}

  /** Never any keys of this layout at this instance; another instance may have a range for it. */
  record NoWorkerRange(String layout) implements NoKeys {}

  /** Never any keys for given times at this instance; another one may have a worker for them. */
  record NoDatedWorker(String layout, List<Integer> workers) implements NoKeys {
    public NoDatedWorker {
      workers = List.copyOf(workers);
    }
  }

  /** Never any keys for given times of this layout on this database, after its last failover. */
  record NoDatedWorkerLeft(String layout) implements NoKeys {}

  /** No segment has the tag. */
  record UnknownSegment() implements NoKeys {}

  /** The segment has not as many numbers left as were asked for. */
  record SegmentExhausted() implements NoKeys {}

  /** No keys until an operator has lifted the fence that a failover or a restore put up. */
  record Fenced() implements NoKeys {}
}
