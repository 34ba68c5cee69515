package dev.coatcheck.api.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.postgres.connection.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BatchQueueTest {
  private static final String MANY = "the key that sends many batches";
  private static final String OTHER = "another key";

  private static final int MINUTE = 60_000;

  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final BatchQueue queue = new BatchQueue(1, MINUTE, now::get);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  @AfterEach
  void end() {
    threads.shutdownNow();
  }

  @Test
  void aBurstWaitsUntilEachBatchHasHadItsTurn() throws Exception {
    assertThat(queue.enter(MANY)).isTrue();
    List<Future<Boolean>> burst = new ArrayList<>();
    for (int i = 1; i <= 20; i++) {
      burst.add(waiting(MANY, i));
    }
    for (Future<Boolean> each : burst) {
      queue.leave();
      assertThat(each.get()).isTrue();
    }
    assertThat(queue.length()).isZero();
  }

  @Test
  void afterABatchHasWaitedInVainEachKeyHasOneInTheQueue() throws Exception {
    waitInVain();
    Future<Boolean> first = waiting(MANY, 1);
    assertThat(isRefusedSoon(queue, MANY)).isTrue();
    Future<Boolean> other = waiting(OTHER, 2);
    assertThat(isRefusedSoon(queue, OTHER)).isTrue();

    queue.leave();
    assertThat(first.get()).isTrue();
    queue.leave();
    assertThat(other.get()).isTrue();
  }

  @Test
  void anOverloadIsOverThreeSecondsAfterTheLastRefusal() throws Exception {
    waitInVain();
    Future<Boolean> first = waiting(MANY, 1);
    pass(Duration.ofSeconds(2));
    assertThat(isRefusedSoon(queue, MANY)).isTrue();
    pass(Duration.ofSeconds(3).minusNanos(1));
    assertThat(isRefusedSoon(queue, MANY)).isTrue();
    pass(Duration.ofSeconds(3));
    Future<Boolean> second = waiting(MANY, 2);

    queue.leave();
    assertThat(first.get()).isTrue();
    queue.leave();
    assertThat(second.get()).isTrue();
  }

  @Test
  void aBatchWithoutTimeForItsWorkIsRefused() throws Exception {
    assertThat(queue.enter(MANY)).isTrue();

    assertThat(hasNoTimeToWait()).isTrue();
  }

  @Test
  void aBatchThatWaitedForTheWholeTimeIsRefused() throws Exception {
    BatchQueue impatient = new BatchQueue(1, 1, now::get);
    assertThat(impatient.enter(MANY)).isTrue();

    assertThat(isRefusedSoon(impatient, OTHER)).isTrue();
    impatient.leave();
    assertThat(impatient.enter(OTHER)).isTrue();
  }

  /** The turn is taken then. */
  private void waitInVain() throws Exception {
    assertThat(queue.enter(MANY)).isTrue();
    assertThat(hasNoTimeToWait()).isTrue();
  }

  private boolean hasNoTimeToWait() throws Exception {
    return isRefusedSoon(queue, OTHER, Duration.ofMillis(250));
  }

  private Future<Boolean> waiting(String key, int inAll) {
    Future<Boolean> batch =
        threads.submit(() -> Deadline.after(Duration.ofMinutes(2)).call(() -> queue.enter(key)));
    Awaitility.await().until(() -> queue.length() == inAll);
    return batch;
  }

  /** Long before the minute that it could wait. */
  private boolean isRefusedSoon(BatchQueue asked, String key) throws Exception {
    return isRefusedSoon(asked, key, Duration.ofMinutes(2));
  }

  private boolean isRefusedSoon(BatchQueue asked, String key, Duration left) throws Exception {
    Future<Boolean> batch = threads.submit(() -> Deadline.after(left).call(() -> asked.enter(key)));
    Awaitility.await().until(batch::isDone);
    return !batch.get();
  }

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }
}
