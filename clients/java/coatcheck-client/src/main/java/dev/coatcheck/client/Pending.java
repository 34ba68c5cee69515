package dev.coatcheck.client;

import org.jspecify.annotations.Nullable;

/**
 * An answer that a {@link Collector} asks for together with others.
 *
 * @param <R> the answer
 */
public final class Pending<R> {
  private final Collector collector;
  private volatile @Nullable R answer;
  private volatile @Nullable RuntimeException failure;

  Pending(Collector collector) {
    this.collector = collector;
  }

  /**
   * The answer. The first call sends all that was collected; after that it is there.
   *
   * @return the answer, never null
   * @throws CoatcheckException if the batch failed; each answer of that batch throws the same. If
   *     this thread was interrupted, only this call throws
   */
  public R get() {
    R known = answer;
    if (known == null && failure == null) {
      collector.send();
      known = answer;
    }
    RuntimeException failed = failure;
    if (failed != null) {
      throw failed;
    }
    if (known == null) {
      throw new IllegalStateException("the batch has no answer for this item");
    }
    return known;
  }

  void complete(R value) {
    answer = value;
  }

  void fail(RuntimeException why) {
    failure = why;
  }
}
