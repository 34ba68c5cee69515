package dev.coatcheck.core.scheme;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * Identifiers that consist of a time and random bits; the next one in the same tick is the last one
 * plus 1. The libraries either read the clock outside of their lock or let the time fall. This
 * class does neither.
 *
 * @param <T> the library's identifier
 */
final class RisingTexts<T> implements TextKeys {
  /** The format of a library. */
  record Format<T>(
      long tickMillis,
      Instant first,
      Instant end,
      LongFunction<T> random,
      UnaryOperator<T> increment) {}

  private final Object lock = new Object();
  private final Format<T> format;
  private final LongSupplier wallMillis;
  private long tick = Long.MIN_VALUE;
  private T last;

  /**
   * @param wallMillis the clock; when it steps back, the time of the identifiers stands still
   */
  RisingTexts(Format<T> format, LongSupplier wallMillis) {
    this.format = format;
    this.wallMillis = wallMillis;
    this.last = format.random().apply(wallMillis.getAsLong());
  }

  @Override
  public List<String> next(int count) {
    List<String> texts = new ArrayList<>(count);
    synchronized (lock) {
      long now = Math.floorDiv(wallMillis.getAsLong(), format.tickMillis());
      if (now > tick) {
        tick = now;
        last = format.random().apply(now * format.tickMillis());
      } else {
        last = format.increment().apply(last);
      }
      texts.add(last.toString());
      while (texts.size() < count) {
        last = format.increment().apply(last);
        texts.add(last.toString());
      }
    }
    return texts;
  }

  @Override
  public List<String> at(Instant at, int count) {
    List<String> texts = new ArrayList<>(count);
    T made = format.random().apply(at.toEpochMilli());
    texts.add(made.toString());
    while (texts.size() < count) {
      made = format.increment().apply(made);
      texts.add(made.toString());
    }
    return texts;
  }

  @Override
  public Instant first() {
    return format.first();
  }

  @Override
  public Instant end() {
    return format.end();
  }
}
