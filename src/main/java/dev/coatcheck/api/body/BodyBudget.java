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
    private final Map<String, Long> byKey = new HashMap<>();
    private long bytes;

    Pool(long bytesMax) {
      this.bytesMax = bytesMax;
    }

    boolean hasRoom(String keyId, long more) {
      return bytes + more <= bytesMax && byKey.getOrDefault(keyId, 0L) + more <= bytesMax / 4;
    }

    void add(String keyId, long more) {
      bytes += more;
      if (byKey.merge(keyId, more, Long::sum) == 0) {
        byKey.remove(keyId);
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
  Account open(String keyId, long besides) {
    return new Account(keyId, besides);
  }

  /** The memory of one request. Thread-safe. A closed account stays empty. */
  final class Account implements AutoCloseable {
    private final String keyId;
    private final long besides;
    private Pool pool = small;
    private long held;
    private boolean closed;

    private Account(String keyId, long besides) {
      this.keyId = keyId;
      this.besides = besides;
    }

    /** Accounts for a body of this size instead of the previous one; false if it can't. */
    boolean hold(int bodyBytes) {
      synchronized (BodyBudget.this) {
        Pool next = bodyBytes <= SMALL_BYTES ? small : large;
        long wanted = besides + bodyBytes;
        long more = next == pool ? wanted - held : wanted;
        if (closed || !next.hasRoom(keyId, more)) {
          return false;
        }
        pool.add(keyId, -held);
        next.add(keyId, wanted);
        pool = next;
        held = wanted;
        return true;
      }
    }

    @Override
    public void close() {
      synchronized (BodyBudget.this) {
        closed = true;
        pool.add(keyId, -held);
        held = 0;
      }
    }
  }
}
