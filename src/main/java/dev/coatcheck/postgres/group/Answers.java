package dev.coatcheck.postgres.group;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjIntConsumer;

/**
 * The answers of a group on their way to its callers. A caller that doesn't wait is sent its answer
 * on the thread that hands out, so they go out in slices, by several threads.
 */
final class Answers {
  /** So many answers are handed out by one thread. */
  private static final int SLICE_CALLS = 16;

  /** So few a thread without other work hands out itself: to wake another one takes longer. */
  private static final int OWN_CALLS_MAX = 4;

  private final List<Runnable> slices = new ArrayList<>();
  private int calls;

  /**
   * Adds the answers of some calls.
   *
   * @param answer gives a call its answer; takes the call and its place in the list
   */
  <C> void add(List<C> answered, ObjIntConsumer<C> answer) {
    for (int from = 0; from < answered.size(); from += SLICE_CALLS) {
      int first = from;
      int end = Math.min(from + SLICE_CALLS, answered.size());
      slices.add(
          () -> {
            for (int i = first; i < end; i++) {
              answer.accept(answered.get(i), i);
            }
          });
    }
    calls += answered.size();
  }

  /**
   * @param isFree whether this thread has nothing else to do
   */
  void handOut(boolean isFree) {
    for (Runnable slice : slices) {
      if (isFree && calls <= OWN_CALLS_MAX) {
        slice.run();
      } else {
        Thread.ofVirtual().name("answers").start(slice);
      }
    }
  }
}
