package dev.coatcheck.postgres.group;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.connection.DeadlineSweep;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One group at a time, and the first one is under way until it is released. */
@Timeout(60)
class CoalescerTest {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final String FAILING = "failing";
  private static final Duration SHORT = Duration.ofMillis(300);

  private final CountDownLatch first = new CountDownLatch(1);
  private final CountDownLatch release = new CountDownLatch(1);
  private final Map<String, Deadline> worked = new ConcurrentHashMap<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Coalescer<String, String> coalescer =
      new Coalescer<>("test", 1, 10, questions -> answer(questions));

  private @Nullable Future<String> held;

  @AfterEach
  void close() {
    release.countDown();
    threads.close();
  }

  @Test
  void whoIsLateLeavesAndIsNotWorkedFor() throws Exception {
    holdTheGroup();

    assertThatThrownBy(() -> Deadline.after(SHORT).call(() -> coalescer.call("late")))
        .isInstanceOf(DatabaseUnavailable.class);
    release.countDown();

    assertThat(requireNonNull(held).get()).isEqualTo("first!");
    assertThat(calling("next", Deadline.after(LONG)).get()).isEqualTo("next!");
    assertThat(worked).doesNotContainKey("late");
  }

  @Test
  void aLateGroupHoldsUpItsOwnCallersOnly() throws Exception {
    CountDownLatch late = new CountDownLatch(1);
    Coalescer<String, String> spared =
        new Coalescer<>(
            "test",
            1,
            1,
            10,
            DeadlineSweep.SHARED,
            questions -> {
              if (questions.contains("late")) {
                late.countDown();
                return answer(questions);
              }
              return questions;
            });
    Future<String> held = threads.submit(() -> spared.call("late"));
    late.await();
    NonBlockingAttempt<String> another = new NonBlockingAttempt<>(() -> spared.call("another"));

    assertThat(spared.call("next")).isEqualTo("next");
    begin(another, Deadline.after(LONG)).get();
    assertThat(held).isNotDone();
    release.countDown();
    assertThat(held.get()).isEqualTo("late!");
    assertThat(spared.call("last")).isEqualTo("last");
  }

  /** The spare group is late too, so that only the end of the first one makes room. */
  @Test
  void whoWaitsBehindALateSpareGroupIsTakenUpOnceTheFirstHasEnded() throws Exception {
    CountDownLatch inSpare = new CountDownLatch(1);
    CountDownLatch releaseSpare = new CountDownLatch(1);
    Coalescer<String, String> spared =
        new Coalescer<>(
            "test",
            1,
            1,
            1,
            DeadlineSweep.SHARED,
            questions -> {
              if (questions.contains("spare")) {
                inSpare.countDown();
                assertThatCode(releaseSpare::await).doesNotThrowAnyException();
              }
              return questions.contains("first") ? answer(questions) : questions;
            });
    Future<String> firstAnswer = threads.submit(() -> spared.call("first"));
    first.await();
    Future<String> spare = threads.submit(() -> spared.call("spare"));
    inSpare.await();
    CompletableFuture<?> next =
        begin(new NonBlockingAttempt<>(() -> spared.call("next")), Deadline.after(LONG));

    release.countDown();

    assertThat(firstAnswer.get()).isEqualTo("first!");
    next.get(); // while nobody else calls
    assertThat(spare).isNotDone();
    releaseSpare.countDown();
    assertThat(spare.get()).isEqualTo("spare");
  }

  @Test
  void aCallWithTooLittleTimeIsLeftOutAndEndsNobodyElse() throws Exception {
    holdTheGroup();
    Future<String> hurried = calling("hurried", Deadline.after(Duration.ofMillis(199)));
    Future<String> patient = calling("patient", Deadline.after(LONG));
    release.countDown();

    assertThat(patient.get()).isEqualTo("patient!");
    assertThatThrownBy(hurried::get).hasCauseInstanceOf(DatabaseUnavailable.class);
    assertThat(worked).doesNotContainKey("hurried");
  }

  @Test
  void aGroupHasTheLatestDeadlineOfItsCalls() throws Exception {
    holdTheGroup();
    Deadline earlier = Deadline.after(LONG);
    Deadline later = Deadline.after(LONG.plusMinutes(1));
    List<Future<String>> calls =
        List.of(calling("a", earlier), calling("b", later), calling("c", earlier));
    release.countDown();

    for (Future<String> call : calls) {
      call.get();
    }
    assertThat(worked.get("a")).isEqualTo(later);
    assertThat(worked.get("c")).isEqualTo(later);
  }

  @Test
  void workThatMustNotWaitIsToldInTimeAndNotWorkedForAfterThat() throws Exception {
    holdTheGroup();
    NonBlockingAttempt<String> late = new NonBlockingAttempt<>(() -> coalescer.call("late"));
    NonBlockingAttempt<String> patient = new NonBlockingAttempt<>(() -> coalescer.call("patient"));
    CompletableFuture<?> lateAnswer = begin(late, Deadline.after(SHORT));
    CompletableFuture<?> patientAnswer = begin(patient, Deadline.after(LONG));

    assertThatThrownBy(lateAnswer::get).hasCauseInstanceOf(DatabaseUnavailable.class);
    assertThatThrownBy(late::run).isInstanceOf(DatabaseUnavailable.class);
    release.countDown();
    patientAnswer.get();

    assertThat(patient.run()).isEqualTo(new NonBlockingAttempt.Outcome.Done<>("patient!"));
    assertThat(worked).containsKey("patient").doesNotContainKey("late");
  }

  /** By the clock of the sweep, which stands still until the test turns it. */
  @Test
  void aCallWhoseGroupHangsEndsAtItsOwnDeadline() throws Exception {
    AtomicLong clock = new AtomicLong(System.nanoTime());
    Deadline early = Deadline.after(LONG);
    Deadline later = Deadline.after(LONG.plusMinutes(1));
    Coalescer<String, String> hanging =
        new Coalescer<>("test", 1, 0, 1, new DeadlineSweep(clock::get), this::answer);
    CompletableFuture<?> inGroup =
        begin(new NonBlockingAttempt<>(() -> hanging.call("in its group")), early);
    first.await();
    CompletableFuture<?> inQueue =
        begin(new NonBlockingAttempt<>(() -> hanging.call("in the queue")), later);
    Future<String> blocked = threads.submit(() -> later.call(() -> hanging.call("on its thread")));

    clock.set(early.nano());
    assertThatThrownBy(inGroup::get).hasCauseInstanceOf(DatabaseUnavailable.class);
    assertThat(inQueue).isNotDone();
    assertThat(blocked).isNotDone();

    clock.set(later.nano());
    assertThatThrownBy(inQueue::get).hasCauseInstanceOf(DatabaseUnavailable.class);
    assertThatThrownBy(blocked::get).hasCauseInstanceOf(DatabaseUnavailable.class);
  }

  /** What waits for an answer may take long to send it. */
  @Test
  void aSlowReceiverOfAnAnswerHoldsUpNoOtherGroup() throws Exception {
    holdTheGroup();
    CountDownLatch sent = new CountDownLatch(1);
    NonBlockingAttempt<String> slow = new NonBlockingAttempt<>(() -> coalescer.call("slow"));
    CompletableFuture<?> answered =
        begin(slow, Deadline.after(LONG))
            .thenRun(() -> assertThatCode(sent::await).doesNotThrowAnyException());
    release.countDown();
    Awaitility.await().until(() -> worked.size() == 2);

    assertThat(calling("next", Deadline.after(LONG)).get()).isEqualTo("next!");
    assertThat(answered).isNotDone();
    sent.countDown();
    answered.get();
  }

  /** The group has more to do, so another thread hands out. */
  @Test
  void aSlowReceiverOfAnAnswerHoldsUpNoneThatWaits() throws Exception {
    Coalescer<String, String> single =
        new Coalescer<>("test", 1, 1, questions -> answer(questions));
    Future<String> firstAnswer = threads.submit(() -> single.call("first"));
    first.await();
    CountDownLatch sent = new CountDownLatch(1);
    CompletableFuture<?> slow =
        begin(new NonBlockingAttempt<>(() -> single.call("slow")), Deadline.after(LONG))
            .thenRun(() -> assertThatCode(sent::await).doesNotThrowAnyException());
    CompletableFuture<?> next =
        begin(new NonBlockingAttempt<>(() -> single.call("next")), Deadline.after(LONG));
    release.countDown();

    assertThat(firstAnswer.get()).isEqualTo("first!");
    next.get();
    assertThat(slow).isNotDone();
    sent.countDown();
    slow.get();
  }

  /** A failure is an answer as well: 503 to all that share the group. */
  @Test
  void aSlowReceiverOfAFailureHoldsUpNoOtherGroup() throws Exception {
    holdTheGroup();
    CountDownLatch sent = new CountDownLatch(1);
    NonBlockingAttempt<String> slow = new NonBlockingAttempt<>(() -> coalescer.call(FAILING));
    CompletableFuture<?> answered =
        begin(slow, Deadline.after(LONG))
            .handle(
                (_, failed) -> {
                  assertThat(failed).hasMessageContaining(FAILING);
                  assertThatCode(sent::await).doesNotThrowAnyException();
                  return failed;
                });
    release.countDown();
    Awaitility.await().until(() -> worked.size() == 2);

    assertThat(calling("next", Deadline.after(LONG)).get()).isEqualTo("next!");
    assertThat(answered).isNotDone();
    sent.countDown();
    answered.get();
  }

  private static CompletableFuture<?> begin(NonBlockingAttempt<String> work, Deadline deadline) {
    return deadline.call(
        () -> ((NonBlockingAttempt.Outcome.Awaits<String>) work.run()).start().get());
  }

  @Test
  void aLoneCallerWorksOnItsOwnThread() {
    release.countDown();
    Thread own = Thread.currentThread();
    Coalescer<String, Boolean> alone =
        new Coalescer<>("test", 1, 10, _ -> List.of(Thread.currentThread().equals(own)));

    assertThat(alone.call("lone")).isTrue();
  }

  /** Returns when the call waits for its group. */
  private Future<String> calling(String question, Deadline deadline) {
    FutureTask<String> call = new FutureTask<>(() -> deadline.call(() -> coalescer.call(question)));
    Thread caller = Thread.ofPlatform().start(call);
    Awaitility.await().until(() -> caller.getState() == Thread.State.WAITING || call.isDone());
    return call;
  }

  private void holdTheGroup() throws InterruptedException {
    held = threads.submit(() -> coalescer.call("first"));
    first.await();
  }

  private List<String> answer(List<String> questions) {
    Deadline deadline = Deadline.current();
    questions.forEach(question -> worked.put(question, deadline));
    first.countDown();
    try {
      release.await();
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
    }
    if (questions.contains(FAILING)) {
      throw new IllegalStateException(FAILING);
    }
    return questions.stream().map(question -> question + "!").toList();
  }
}
