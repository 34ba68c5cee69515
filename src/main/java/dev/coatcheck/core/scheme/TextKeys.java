package dev.coatcheck.core.scheme;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * Generates identifiers that are texts, of a time and random bits; the next one in the same tick is
 * the last one plus 1. They are not keys of types, and no column of ours stores them. The libraries
 * either read the clock outside of their lock or let the time fall. This class does neither.
 * Thread-safe.
 *
 * @param <T> the library's identifier
 */
public final class TextKeys<T> {
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
  TextKeys(Format<T> format, LongSupplier wallMillis) {
    this.format = format;
    this.wallMillis = wallMillis;
    this.last = format.random().apply(wallMillis.getAsLong());
  }

  /** New identifiers for now. They rise within the process, even if the clock steps back. */
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

  /**
   * New identifiers that carry a given time. Those of one call rise. Random bits make them unique,
   * so calls for the same time are not in order.
   *
   * @param at from {@link #first} to before {@link #end}
   */
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

  /** The first time that an identifier can carry. */
  public Instant first() {
    return format.first();
  }

  /** The first time after the last that an identifier can carry. */
  public Instant end() {
    return format.end();
  }
}
