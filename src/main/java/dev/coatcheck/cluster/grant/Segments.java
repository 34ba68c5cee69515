package dev.coatcheck.cluster.grant;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/**
 * Consecutive numbers from counters in Postgres. Each instance draws from ranges that are granted
 * to it alone. Numbers of several instances are not in order, and unused numbers of an instance
 * that ends are lost.
 */
public final class Segments {
  private static final int TAGS_MAX = 10_000;
  private static final long RETRY_MILLIS = 60_000;

  private final SegmentStore store;
  private final Observer observer;
  private final LongSupplier nanoTime;
  private final Executor threads = Thread.ofVirtual().name("segment")::start;
  private final Map<String, SegmentBuffer> buffers = new ConcurrentHashMap<>();

  /**
   * @param database connections for segments alone: mints wait for numbers inside their
   *     transactions
   */
  public Segments(Database database, Observer observer, LongSupplier nanoTime) {
    this.store = new SegmentStore(database);
    this.observer = observer;
    this.nanoTime = nanoTime;
  }

  /** Draws {@code count} numbers of a segment, in rising order. Waits up to 900 ms. */
  public KeyOutcome next(String tag, int count) {
    SegmentBuffer known = buffers.get(tag);
    if (known == null && buffers.size() >= TAGS_MAX) {
      return new KeyOutcome.Refused("too many segments on one instance", RETRY_MILLIS);
    }
    SegmentBuffer buffer =
        buffers.computeIfAbsent(
            tag,
            _ ->
                new SegmentBuffer(
                    (many, knownEnd) -> store.grant(tag, many, knownEnd), threads, nanoTime));
    KeyOutcome draw = buffer.draw(count);
    if (draw instanceof KeyOutcome.UnknownSegment) {
      buffers.remove(tag, buffer);
    } else if (draw instanceof KeyOutcome.Fenced) {
      observer.observe(new Event.KeysFenced("segment"));
    }
    return draw;
  }

  /** Draws from the segment with this tag; equal for equal tags. */
  public KeyGenerator generator(String tag) {
    return new Generator(this, tag);
  }

  private record Generator(Segments segments, String tag) implements KeyGenerator {
    @Override
    public KeyOutcome next(int count) {
      return segments.next(tag, count);
    }
  }

  /** Creates a segment, or changes the steps of a segment that counts in the same way. */
  public SegmentPut put(SegmentDefinition wanted, Actor actor) {
    return store.put(wanted, actor);
  }

  public List<SegmentState> list() {
    return store.list();
  }
}
