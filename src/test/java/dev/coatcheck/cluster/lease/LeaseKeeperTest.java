package dev.coatcheck.cluster.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.coatcheck.Breakage;
import dev.coatcheck.BrokenBy;
import dev.coatcheck.core.key.KeyReservation;
import dev.coatcheck.core.key.Positions;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The holder's decisions, told the time and the replies one by one. */
class LeaseKeeperTest {
  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000 * MILLI;
  private static final long DATABASE_MILLIS = 1_780_000_000_000L;
  private static final LeaseRequest.Release RELEASE_5 = new LeaseRequest.Release(5, 1);
  private static final LeaseReply FAILED = new LeaseReply.Failed("cut off");

  private final LeaseKeeper keeper =
      new LeaseKeeper(SnowflakeLayout.DEFAULT, LeaseRules.KEPT, this::hear, 0);
  private final List<LeaseEvent> events = new ArrayList<>();
  private long nano;

  private void hear(LeaseEvent event) {
    events.add(event);
  }

  /** Passes the keeper's sleep, if it sleeps, and answers what it sends. */
  private LeaseRequest answer(LeaseReply reply) {
    LeaseRequest request = sent();
    keeper.replied(request, reply, nano, nano);
    return request;
  }

  private LeaseRequest sent() {
    return switch (keeper.next(nano)) {
      case LeaseKeeper.Step.Send(LeaseRequest request) -> request;
      case LeaseKeeper.Step.Sleep(long nanos) -> {
        nano += nanos;
        yield ((LeaseKeeper.Step.Send) keeper.next(nano)).request();
      }
    };
  }

  private void acquire(int worker) {
    long now = DATABASE_MILLIS + nano / MILLI;
    assertThat(answer(new LeaseReply.Acquired(worker, 1, now, now + 3_000)))
        .isEqualTo(new LeaseRequest.Acquire());
  }

  private KeyReservation.Wait refusal() {
    return (KeyReservation.Wait) keeper.reserve(1, nano);
  }

  @Test
  void aWorkerIsGivenBackBeforeItsHolderWaitsForAnother() {
    acquire(5);
    assertThat(answer(new LeaseReply.Gone())).isInstanceOf(LeaseRequest.Renew.class);
    assertThat(answer(new LeaseReply.Released())).isEqualTo(RELEASE_5);
    assertThat(answer(new LeaseReply.NoneFree("none", 2_000)))
        .isEqualTo(new LeaseRequest.Acquire());
    assertThat(keeper.reserve(1, nano))
        .as("the rest of the window that was granted")
        .isInstanceOf(KeyReservation.Some.class);
    assertThat(sent()).isEqualTo(new LeaseRequest.Acquire());
  }

  /** What is known of a millisecond counts until its last nanosecond, and no longer. */
  @Test
  void eachKeyHasTheTimeAtWhichItIsDrawn() {
    acquire(5);
    for (long at :
        List.of(0L, MILLI - 1, MILLI, MILLI + 1, 2 * MILLI - 1, 2 * MILLI, 500 * MILLI, SECOND)) {
      nano = at;
      assertThat(SnowflakeLayout.DEFAULT.timeOf(keeper.reserveKey(nano)).toEpochMilli())
          .as("after %d ns", at)
          .isEqualTo(DATABASE_MILLIS + 1 + at / MILLI);
    }
    assertThat(keeper.reserveKey(4 * SECOND)).as("behind the window").isEqualTo(Positions.NONE);
  }

  /** The first tick's keys are found by an addition, and those of the ticks ahead are not. */
  @ParameterizedTest
  @ValueSource(
      strings = {"default", "regional", "39x10/s8/16@1735689600000", "41/15/7@1767225600000"})
  void keysThatAreDrawnOneByOneHaveOnePositionAfterTheOther(String name) {
    SnowflakeLayout layout = SnowflakeLayout.accepted(name);
    LeaseKeeper one = new LeaseKeeper(layout, LeaseRules.KEPT, this::hear, 0);
    LeaseRequest request = ((LeaseKeeper.Step.Send) one.next(0)).request();
    LeaseReply reply = new LeaseReply.Acquired(3, 1, DATABASE_MILLIS, DATABASE_MILLIS + 3_000);
    one.replied(request, reply, 0, 0);

    long at = 28 * MILLI; // in the middle of the long tick
    long position = layout.position(DATABASE_MILLIS + 1 + 28);
    for (int drawn = 0; drawn < 500; drawn++) {
      long key = one.reserveKey(at);
      assertThat(layout.positionOf(key)).isEqualTo(position + drawn);
      assertThat(layout.workerOf(key)).isEqualTo(3);
    }
  }

  /** The first begins in 2035, the second ended in 2016. */
  @ParameterizedTest
  @ValueSource(strings = {"41/10/12@2051222400000", "36/15/12@1400000000000"})
  void outsideOfItsTimeALayoutHasNoKeys(String name) {
    SnowflakeLayout layout = SnowflakeLayout.accepted(name);
    LeaseKeeper one = new LeaseKeeper(layout, LeaseRules.KEPT, this::hear, 0);
    LeaseRequest request = ((LeaseKeeper.Step.Send) one.next(0)).request();
    one.replied(
        request, new LeaseReply.Acquired(3, 1, DATABASE_MILLIS, DATABASE_MILLIS + 3_000), 0, 0);

    assertThatIllegalStateException().isThrownBy(() -> one.reserveKey(0));
    assertThatIllegalStateException().isThrownBy(() -> one.reserve(1, 0));
  }

  /** Its row counts as taken for seconds longer than the window, which may leave none. */
  @Test
  void afterAnOutageLongerThanTheWindowTheOldWorkerIsGivenBackFirst() {
    acquire(5);
    answer(FAILED);
    nano += 4 * SECOND;
    answer(FAILED);

    nano += SECOND;
    assertThat(answer(new LeaseReply.Released())).isEqualTo(RELEASE_5);
    acquire(5);
    assertThat(keeper.reserve(1, nano)).isInstanceOf(KeyReservation.Some.class);
  }

  /** The positions are closed then, and say nothing of the database's clock. */
  @Test
  void aRenewalThatIsAnsweredDuringTheStopIsNoNewsAndTheWorkerIsGivenBack() {
    acquire(5);
    LeaseRequest renewal = sent();
    keeper.stop();
    long now = DATABASE_MILLIS + nano / MILLI;
    keeper.replied(renewal, new LeaseReply.Renewed(now, now + 3_000), nano, nano);

    assertThat(events).hasSize(1).first().isInstanceOf(LeaseEvent.Acquired.class);
    assertThat(keeper.farewell()).isEqualTo(RELEASE_5);
  }

  @Test
  void aReleaseWithoutAnAnswerIsSentAgainInTurnsWithAcquires() {
    acquire(5);
    answer(new LeaseReply.Gone());
    assertThat(answer(FAILED)).isEqualTo(RELEASE_5);
    assertThat(answer(FAILED)).isEqualTo(new LeaseRequest.Acquire());
    assertThat(answer(FAILED)).isEqualTo(RELEASE_5);
    assertThat(answer(new LeaseReply.NoneFree("none", 2_000)))
        .isEqualTo(new LeaseRequest.Acquire());
    assertThat(answer(new LeaseReply.Released())).isEqualTo(RELEASE_5);
    assertThat(sent()).isEqualTo(new LeaseRequest.Acquire());
  }

  /** Such as where each connection takes more than a second: without a word there were no keys. */
  @Test
  void aWorkerThatComesTooLateIsToldAndGivenBackAndTheNextIsAwaited() {
    LeaseRequest request = sent();
    long sent = nano;
    nano += 1_500 * MILLI;
    long now = DATABASE_MILLIS + nano / MILLI;
    keeper.replied(request, new LeaseReply.Acquired(5, 1, now, now + 3_000), sent, nano);

    String reason = "the reply came after 1500 ms, and counts for 1000 ms";
    assertThat(events).containsExactly(new LeaseEvent.Failed("default", reason));
    assertThat(refusal().reason()).endsWith(reason);
    assertThat(keeper.next(nano)).isEqualTo(new LeaseKeeper.Step.Sleep(100 * MILLI));
    assertThat(answer(new LeaseReply.Released())).isEqualTo(RELEASE_5);
    acquire(6);
    assertThat(keeper.reserve(1, nano)).isInstanceOf(KeyReservation.Some.class);
  }

  @Test
  void aHolderSendsAReleaseOnceAndRenews() {
    acquire(5);
    answer(new LeaseReply.Gone());
    answer(FAILED);
    acquire(6);
    assertThat(answer(FAILED)).isEqualTo(RELEASE_5);
    assertThat(sent()).isInstanceOf(LeaseRequest.Renew.class);
    long now = DATABASE_MILLIS + nano / MILLI;
    answer(new LeaseReply.Renewed(now, now + 3_000));
    assertThat(sent()).isInstanceOf(LeaseRequest.Renew.class);
  }

  /** Of two windows that follow each other in the middle of a tick of a second. */
  @Test
  @BrokenBy("tick-shared")
  void aTickBelongsToTheWindowInWhichItBegins() {
    SnowflakeLayout seconds = SnowflakeLayout.accepted("29x1000/21/13@1463673600000");
    KeyLedger ledger = new KeyLedger();
    long first = DATABASE_MILLIS + 500;
    LeaseKeeper before = holder(seconds, first, first + 3_000);
    assertThat(drawAll(before, 3_000 * MILLI, ledger))
        .isEqualTo(seconds.position(DATABASE_MILLIS + 4_000) - 1);

    LeaseKeeper after = holder(seconds, first + 3_001, first + 6_001);
    assertThat(drawAll(after, 0, ledger)).as("the tick of the window before").isNegative();
    assertThat(((KeyReservation.Wait) after.reserve(1, 0)).retryAfterMillis()).isEqualTo(1_000);
    assertThat(drawAll(after, 499 * MILLI, ledger))
        .isEqualTo(seconds.position(DATABASE_MILLIS + 5_000) - 1);
    assertThat(ledger.keys()).isEqualTo(2 * (seconds.sequenceMax() + 1));
  }

  private LeaseKeeper holder(SnowflakeLayout layout, long nowMillis, long untilMillis) {
    LeaseKeeper holder = new LeaseKeeper(layout, Defect.current().rules(), this::hear, 0);
    holder.replied(
        new LeaseRequest.Acquire(), new LeaseReply.Acquired(5, 1, nowMillis, untilMillis), 0, 0);
    return holder;
  }

  /** The last position of all that there are at a time; negative if there are none. */
  private static long drawAll(LeaseKeeper holder, long nano, KeyLedger ledger) {
    long last = -1;
    while (holder.reserve(1_000, nano)
        instanceof KeyReservation.Some(Positions.Run run, int worker)) {
      ledger.record(worker, run);
      last = run.first() + run.count() - 1;
    }
    return last;
  }

  @TestFactory
  Stream<DynamicTest> everyDefectIsFound() {
    return Breakage.requireRed(this);
  }

  /** The next worker's estimate of the database's clock may lag behind that of the last one. */
  @Test
  void keysGoOnRisingOverAChangeOfWorker() {
    acquire(5);
    nano += 700 * MILLI;
    long last = drawn(5);
    answer(new LeaseReply.Gone());
    answer(new LeaseReply.Released());
    long lagging = DATABASE_MILLIS + nano / MILLI - 300;
    answer(new LeaseReply.Acquired(6, 1, lagging, lagging + 3_000));

    assertThat(drawn(6)).isGreaterThan(last);
  }

  /** The last key, by its place in time, of some that are drawn from the worker. */
  private long drawn(int worker) {
    KeyReservation.Some some = (KeyReservation.Some) keeper.reserve(3, nano);
    assertThat(some.worker()).isEqualTo(worker);
    return some.run().first() + some.run().count() - 1;
  }

  @Test
  void aRefusalTellsWhenTheFirstRestEnds() {
    answer(new LeaseReply.NoneFree("all rest", 90_500));
    assertThat(refusal()).isEqualTo(new KeyReservation.Wait("all rest", 90_500));
    nano += 60 * SECOND + 1;
    assertThat(refusal().retryAfterMillis()).isEqualTo(30_500);
    nano += 3_600 * SECOND;
    assertThat(refusal().retryAfterMillis()).isEqualTo(1_000);
  }

  @Test
  void aRefusalPromisesNothingBeyondAnHour() {
    answer(new LeaseReply.NoneFree("all rest", Long.MAX_VALUE));
    assertThat(refusal().retryAfterMillis()).isEqualTo(3_600_000);
  }

  @Test
  void aFailureBetweenDoesNotShortenARest() {
    answer(new LeaseReply.NoneFree("all rest", 90_000));
    answer(FAILED);
    assertThat(refusal().reason()).isEqualTo("cut off");
    assertThat(refusal().retryAfterMillis()).isBetween(88_000L, 89_000L);
  }

  @Test
  void aRestIsForgottenWithTheNextWorker() {
    answer(new LeaseReply.NoneFree("all rest", 90_000));
    acquire(5);
    nano += 10 * SECOND;
    assertThat(refusal())
        .isEqualTo(new KeyReservation.Wait("the lease was not renewed in time", 1_000));
  }

  @Test
  void aFailureIsForgottenWithTheNextRenewal() {
    acquire(5);
    answer(FAILED);
    long now = DATABASE_MILLIS + nano / MILLI;
    answer(new LeaseReply.Renewed(now, now + 3_000));
    nano += 10 * SECOND;
    assertThat(refusal())
        .isEqualTo(new KeyReservation.Wait("the lease was not renewed in time", 1_000));
  }

  @Test
  void theNextTryComesWithTheEndOfTheRestOrAfterASecond() {
    long[][] freeInAndSleep = {{-5, 100}, {0, 100}, {300, 300}, {1_000, 1_000}, {90_000, 1_000}};
    for (long[] times : freeInAndSleep) {
      answer(new LeaseReply.NoneFree("all rest", times[0]));
      assertThat(keeper.next(nano)).isEqualTo(new LeaseKeeper.Step.Sleep(times[1] * MILLI));
    }
  }
}
