package dev.coatcheck.api.body;

import java.util.HashMap;
import java.util.Map;

/**
 * Limits the memory of requests with a body, from their headers to their answers. Small requests
 * have a budget of their own, which large ones can't use up. An API key gets at most a quarter of
 * each budget.
 */
final class BodyBudget {
  static final int SMALL_BYTES = 8 * 1024;

  private static final long SMALL_IN_ALL = 16L << 20;
  private static final long LARGE_IN_ALL = 48L << 20;

  private final Pool small = new Pool(SMALL_IN_ALL);
  private final Pool large = new Pool(LARGE_IN_ALL);

  private static final class Pool {
    private final long bytesMax;
    private final Map<String, Long> byChain = new HashMap<>();
    private long bytes;

    Pool(long bytesMax) {
      this.bytesMax = bytesMax;
    }

    boolean hasRoom(String chain, long more) {
      return bytes + more <= bytesMax && byChain.getOrDefault(chain, 0L) + more <= bytesMax / 4;
    }

    void add(String chain, long more) {
      bytes += more;
      if (byChain.merge(chain, more, Long::sum) == 0) {
        byChain.remove(chain);
      }
    }
  }

  /** What all requests hold now, in bytes. */
  synchronized long bytesHeld() {
    return small.bytes + large.bytes;
  }

  /**
   * Opens the account of a request.
   *
   * @param besides what the request holds besides its body, in bytes
   */
  Account open(String chain, long besides) {
    return new Account(chain, besides);
  }

  /** The memory of one request. Thread-safe. A closed account stays empty. */
  final class Account implements AutoCloseable {
    private final String chain;
    private final long besides;
    private Pool pool = small;
    private long held;
    private boolean closed;

    private Account(String chain, long besides) {
      this.chain = chain;
      this.besides = besides;
    }

    /** Accounts for a body of this size instead of the previous one; false if it can't. */
    boolean hold(int bodyBytes) {
      synchronized (BodyBudget.this) {
        Pool next = bodyBytes <= SMALL_BYTES ? small : large;
        long wanted = besides + bodyBytes;
        long more = next == pool ? wanted - held : wanted;
        if (closed || !next.hasRoom(chain, more)) {
          return false;
        }
        pool.add(chain, -held);
        next.add(chain, wanted);
        pool = next;
        held = wanted;
        return true;
      }
    }

    @Override
    public void close() {
      synchronized (BodyBudget.this) {
        closed = true;
        pool.add(chain, -held);
        held = 0;
      }
    }
  }
}
