package dev.coatcheck.postgres.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AnswersTest {
  private final Map<Integer, Thread> handedOut = Collections.synchronizedMap(new HashMap<>());

  @Test
  void aFewAreHandedOutHereIfThisThreadIsFree() throws Exception {
    assertThat(threads(4, true)).containsOnly(Thread.currentThread());
  }

  @Test
  void whoHasMoreWorkHandsOutNothingItself() throws Exception {
    assertThat(threads(1, false)).hasSize(1).doesNotContain(Thread.currentThread());
  }

  @Test
  void manyAreHandedOutBySeveralThreadsInSlices() throws Exception {
    List<Thread> threads = threads(33, true);

    assertThat(threads).doesNotContain(Thread.currentThread());
    assertThat(threads.stream().distinct()).hasSize(3);
    assertThat(threads.get(15)).isSameAs(threads.get(0)).isNotSameAs(threads.get(16));
  }

  /** The thread that each call got its answer on, in the order of the calls. */
  private List<Thread> threads(int calls, boolean isFree) throws InterruptedException {
    CountDownLatch left = new CountDownLatch(calls);
    Answers answers = new Answers();
    answers.add(
        IntStream.range(0, calls).boxed().toList(),
        (call, place) -> {
          assertThat(place).isEqualTo(call);
          handedOut.put(call, Thread.currentThread());
          left.countDown();
        });
    answers.handOut(isFree);
    left.await();
    return IntStream.range(0, calls).mapToObj(handedOut::get).toList();
  }
}
