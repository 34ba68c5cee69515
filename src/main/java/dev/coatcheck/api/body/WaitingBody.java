package dev.coatcheck.api.body;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Invocable;

/**
 * A body that is being sent. It reads when Jetty reports more data, and holds no thread in between.
 *
 * <p>If a body is refused half-way, the rest is read and dropped for a while, because a client that
 * is cut off while it sends may never see the answer.
 */
final class WaitingBody implements Invocable.Task {
  private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long WINDOW_BYTES_MIN = 5 * 1024;
  private static final long BYTES_DROPPED_MAX = 4L << 20;
  private static final byte[] NOTHING = {};

  private final GatedRequest gated;
  private final Request request;
  private final BodyBudget.Account account;
  private final int bytesMax;
  private final Set<WaitingBody> waiting;

  private byte[] bytes = NOTHING;
  private int length;
  private Optional<Refusal> refusal = Optional.empty();
  private boolean ended;
  private long received;
  private long windowReceived;
  private long windowBegun;

  /** Ends a request whose body is dropped. */
  interface Refusal {
    /**
     * Ends the request.
     *
     * @param isAllRead false if more of the body may come
     */
    void end(boolean isAllRead);
  }

  /**
   * @param waiting the bodies that have begun and not ended
   */
  WaitingBody(GatedRequest gated, BodyBudget.Account account, Set<WaitingBody> waiting) {
    this.gated = gated;
    this.request = gated.request();
    this.bytesMax = gated.route().bytesMax();
    this.account = account;
    this.waiting = waiting;
    this.windowBegun = System.nanoTime();
  }

  /** Starts to collect the body. */
  void begin() {
    waiting.add(this);
    run();
  }

  /** Drops the body of a refused request. */
  void drop(Refusal end) {
    refusal = Optional.of(end);
    begin();
  }

  /** Never waits, so the thread that reads all connections may call it. */
  @Override
  public InvocationType getInvocationType() {
    return InvocationType.NON_BLOCKING;
  }

  /** Reads the available data, and asks to be called again unless the body is complete. */
  @Override
  public void run() {
    Optional<Runnable> end = takeAll();
    end.ifPresentOrElse(Runnable::run, () -> request.demand(this));
  }

  /** Ends the body if its rate was below 1 KiB/s for 5 s. */
  void endIfSlow(long nowNanos) {
    Refusal why;
    synchronized (this) {
      if (ended || nowNanos - windowBegun < WINDOW_NANOS) {
        return;
      }
      boolean slow = received - windowReceived < WINDOW_BYTES_MIN;
      windowBegun = nowNanos;
      windowReceived = received;
      if (!slow) {
        return;
      }
      end();
      why = refusal.orElse(gated::tooSlow);
    }
    why.end(false);
  }

  private synchronized Optional<Runnable> takeAll() {
    while (!ended) {
      Content.Chunk chunk = request.read();
      if (chunk == null) {
        return Optional.empty();
      }
      if (Content.Chunk.isFailure(chunk)) {
        end();
        if (chunk.getFailure() instanceof TimeoutException) {
          // Idle connections end soon at the limit of connections, before this body is seen to be.
          return Optional.of(() -> refusal.orElse(gated::tooSlow).end(false));
        }
        return Optional.of(() -> gated.broken(chunk.getFailure()));
      }
      take(chunk.getByteBuffer());
      boolean last = chunk.isLast();
      chunk.release();
      if (last || (refusal.isPresent() && received > BYTES_DROPPED_MAX)) {
        return Optional.of(ended(last));
      }
    }
    return Optional.of(() -> {});
  }

  private Runnable ended(boolean isAllRead) {
    byte[] body = bytes.length == length ? bytes : Arrays.copyOf(bytes, length);
    end();
    return refusal
        .<Runnable>map(why -> () -> why.end(isAllRead))
        .orElse(() -> gated.complete(body));
  }

  private void end() {
    ended = true;
    bytes = NOTHING;
    waiting.remove(this);
  }

  private void take(ByteBuffer more) {
    received += more.remaining();
    if (refusal.isPresent()) {
      return;
    }
    int needed = length + more.remaining();
    if (needed > bytesMax) {
      refuse(gated::tooLarge);
    } else if (needed > bytes.length && !grow(needed)) {
      refuse(gated::noMemory);
    } else {
      more.get(bytes, length, needed - length);
      length = needed;
    }
  }

  private void refuse(Refusal why) {
    refusal = Optional.of(why);
    bytes = NOTHING;
    length = 0;
    account.hold(0);
  }

  private boolean grow(int needed) {
    int most = request.getLength() > 0 ? (int) request.getLength() : bytesMax;
    int capacity = Math.clamp(2L * bytes.length, needed, Math.max(needed, most));
    if (!account.hold(capacity)) {
      return false;
    }
    bytes = Arrays.copyOf(bytes, capacity);
    return true;
  }
}
