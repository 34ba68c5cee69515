package dev.coatcheck.api.server;

import static java.util.Objects.requireNonNull;

import dev.coatcheck.ids.access.Scope;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Limits the requests that are handled at a time. Virtual threads have no limit of their own, and a
 * queue in front of the connection pool is unfair, so a request without a permit is refused at
 * once. A quarter of the permits is reserved for redirects and resolves, a quarter for mints. No
 * API key holds more than half, so no caller can use up what others need.
 */
public final class Permits {
  private static final int BATCH_WAIT_MILLIS_MAX = 600;

  /** A part of the permits that is reserved for one kind of request. */
  public enum Share {
    RESOLVES,
    MINTS,
    OTHERS;

    private static final Set<Scope> MINTING =
        Set.of(Scope.IDS_WRITE, Scope.IDS_END, Scope.KEYS_WRITE);

    /** The share of the requests that need a scope. */
    public static Share of(Scope needed) {
      if (needed.equals(Scope.IDS_READ)) {
        return RESOLVES;
      }
      return MINTING.contains(needed) ? MINTS : OTHERS;
    }
  }

  private final int reservedForEach;
  private final int unreserved;
  private final int keyMax;
  private final Map<Share, Integer> taken = new EnumMap<>(Share.class);
  private final Map<Share, BatchQueue> batches = new EnumMap<>(Share.class);
  private final Map<String, Integer> takenByChain = new HashMap<>();

  /** Permits without batches. */
  public Permits(int permits) {
    this(permits, permits);
  }

  /**
   * @param batchesMax how many batches of each share run at a time
   */
  public Permits(int permits, int batchesMax) {
    this.reservedForEach = permits / 4;
    this.unreserved = permits - 2 * reservedForEach;
    this.keyMax = permits / 2;
    for (Share share : Share.values()) {
      batches.put(share, new BatchQueue(batchesMax, BATCH_WAIT_MILLIS_MAX, System::nanoTime));
    }
  }

  /** The queue in which the batches of a share wait; they hold a permit meanwhile. */
  BatchQueue batches(Share share) {
    return requireNonNull(batches.get(share));
  }

  public int batchesWaiting() {
    return batches.values().stream().mapToInt(BatchQueue::length).sum();
  }

  /** A permit, to be closed when the request is handled; empty if none is left for the share. */
  public synchronized Optional<Permit> enter(Share share) {
    boolean isReserved = share != Share.OTHERS && taken(share) < reservedForEach;
    if (!isReserved && unreservedTaken() >= unreserved) {
      return Optional.empty();
    }
    taken.merge(share, 1, Integer::sum);
    return Optional.of(new Permit(share));
  }

  private int unreservedTaken() {
    return taken(Share.OTHERS)
        + Math.max(0, taken(Share.RESOLVES) - reservedForEach)
        + Math.max(0, taken(Share.MINTS) - reservedForEach);
  }

  private int taken(Share share) {
    return taken.getOrDefault(share, 0);
  }

  private synchronized boolean claim(String chain) {
    if (takenByChain.getOrDefault(chain, 0) >= keyMax) {
      return false;
    }
    takenByChain.merge(chain, 1, Integer::sum);
    return true;
  }

  private synchronized void leave(Permit permit) {
    taken.merge(permit.share, -1, Integer::sum);
    permit.chain.ifPresent(
        chain -> takenByChain.computeIfPresent(chain, (_, count) -> count == 1 ? null : count - 1));
  }

  /** The permit of one request; claimed by one thread. */
  public final class Permit implements AutoCloseable {
    private final Share share;
    private final AtomicBoolean isTaken = new AtomicBoolean(true);
    private volatile Optional<String> chain = Optional.empty();

    private Permit(Share share) {
      this.share = share;
    }

    /** Charges this permit to a chain of API keys, once; false if it holds half of all permits. */
    public boolean claim(String claimant) {
      if (!Permits.this.claim(claimant)) {
        return false;
      }
      chain = Optional.of(claimant);
      return true;
    }

    /** Returns the permit. A second call does nothing. */
    @Override
    public void close() {
      if (isTaken.compareAndSet(true, false)) {
        leave(this);
      }
    }
  }
}
