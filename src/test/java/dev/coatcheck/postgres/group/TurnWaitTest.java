package dev.coatcheck.postgres.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TurnWaitTest {
  private static final int LONG = 900;
  private static final int SHORT = 20;

  private final Semaphore turns = new Semaphore(0, true);
  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final TurnWait wait = new TurnWait(turns, LONG, now::get);

  @Test
  void aQueueThatStandsForAsLongAsABatchWaitsIsAnOverloadUntilItIsEmpty() throws Exception {
    pass(10_000);
    assertThat(wait.millis()).isEqualTo(LONG);

    Thread queued = Thread.ofVirtual().start(turns::acquireUninterruptibly);
    await().until(turns::hasQueuedThreads);
    pass(LONG);
    assertThat(wait.millis()).isEqualTo(LONG);
    pass(1);
    assertThat(wait.millis()).isEqualTo(SHORT);

    turns.release();
    queued.join();
    assertThat(wait.millis()).isEqualTo(LONG);
  }

  @Test
  void aBatchNeverWaitsLongerInAnOverload() {
    TurnWait brief = new TurnWait(turns, 1, now::get);
    Thread queued = Thread.ofVirtual().start(turns::acquireUninterruptibly);
    await().until(turns::hasQueuedThreads);
    pass(2);

    assertThat(brief.millis()).isEqualTo(1);
    queued.interrupt();
    turns.release();
  }

  private void pass(int millis) {
    now.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
  }
}
