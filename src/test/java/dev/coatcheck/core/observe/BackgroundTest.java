package dev.coatcheck.core.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class BackgroundTest {
  private final Observer observer = new Observer();
  private final Background background = new Background("sweep", observer);

  @Test
  void aLoopOutlivesWhatItsRoundsThrow() throws InterruptedException {
    CountDownLatch rounds = new CountDownLatch(4);
    background.every(
        Duration.ofMillis(1),
        () -> {
          rounds.countDown();
          if (rounds.getCount() % 2 == 0) {
            throw new StackOverflowError("as told");
          }
          throw new IllegalStateException("as told");
        });
    assertThat(rounds.await(1, TimeUnit.MINUTES)).isTrue();
    background.stop();
  }

  @Test
  void aFailedRoundIsNoFailedRequestAndHasACounterOfItsOwn() {
    assertThat(background.run(BackgroundTest::fail)).isFalse();
    assertThat(background.run(BackgroundTest::fail)).isFalse();
    assertThat(background.run(() -> {})).isTrue();

    assertThat(observer.scrape())
        .contains("coatcheck_background_failures_total{loop=\"sweep\"} 2.0")
        .doesNotContain("coatcheck_requests_failed");
  }

  private static void fail() {
    throw new IllegalStateException("as told");
  }

  /** An outage, for instance: the database says so itself. */
  @Test
  void whatWasObservedWhereItHappenedIsNotCountedAgain() {
    assertThat(
            background.run(
                () -> {
                  throw new Reported();
                }))
        .isFalse();

    assertThat(observer.scrape()).doesNotContain("coatcheck_background_failures");
  }

  private static final class Reported extends RuntimeException implements Background.Observed {}
}
