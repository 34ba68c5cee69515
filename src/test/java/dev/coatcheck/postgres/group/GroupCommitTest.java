package dev.coatcheck.postgres.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.group.GroupCommit.Attempt;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class GroupCommitTest {
  /** Enough for a try, and no more. */
  private static final Duration SHORT = Duration.ofMillis(300);

  private final ConcurrentLinkedQueue<List<Call>> transactions = new ConcurrentLinkedQueue<>();

  private record Call(String name, boolean isBatch, boolean bringsNames)
      implements GroupCommit.Call {
    @Override
    public boolean isRepeatable() {
      return name.startsWith("repeatable");
    }
  }

  @Test
  void aBugMeetsOnlyTheCallThatBroughtIt() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    GroupCommit<Call, String> commits =
        commits(
            calls -> {
              if (calls.contains(named("first"))) {
                await(release);
              }
              if (calls.contains(named("bug"))) {
                throw new IllegalStateException("bug");
              }
              return done(calls);
            });
    List<FutureTask<String>> callers = new ArrayList<>();
    for (String name : List.of("first", "good", "bug", "better")) {
      callers.add(waiting(commits, named(name)));
    }
    release.countDown();

    assertThat(callers.get(1).get()).isEqualTo("good!");
    assertThat(callers.get(3).get()).isEqualTo("better!");
    assertThatThrownBy(callers.get(2)::get).hasCauseInstanceOf(IllegalStateException.class);
    assertThat(transactions)
        .contains(
            List.of(named("good"), named("bug"), named("better")),
            List.of(named("good")),
            List.of(named("better")));
  }

  @Test
  void aHeldNameIsTriedAgainAndThenBusy() {
    AtomicInteger tries = new AtomicInteger();
    GroupCommit<Call, String> commits =
        commits(
            calls ->
                calls.stream()
                    .<Attempt<String>>map(
                        call ->
                            call.name().equals("soon free") && tries.incrementAndGet() == 3
                                ? new Attempt.Done<>("free")
                                : new Attempt.Held<>())
                    .toList());

    assertThat(commits.settle(named("soon free"))).isEqualTo("free");
    assertThat(Deadline.after(SHORT).call(() -> commits.settle(named("held")))).isEqualTo("busy");
  }

  /** Else it would be told that the database is not available, which is not so. */
  @Test
  void aHeldNameIsBusyAsLongAsThereIsTimeForNoTryWithAConnection() {
    for (int leftMillis : new int[] {251, RetryPause.TRY_MILLIS_MIN + 1}) {
      GroupCommit<Call, String> commits =
          commits(calls -> calls.stream().<Attempt<String>>map(_ -> new Attempt.Held<>()).toList());

      Deadline.after(Duration.ofMillis(leftMillis)).call(() -> commits.settle(named("held")));

      assertThat(transactions).as("%s ms", leftMillis).hasSize(1);
      transactions.clear();
    }
  }

  /** Neither is settled without a pause or a transaction of its own; both may be sent again. */
  @Test
  void workThatMustNotWaitLeavesWithAHeldNameAndFromAGroupThatWasUndone() throws Exception {
    for (Attempt<String> outcome :
        List.<Attempt<String>>of(new Attempt.Held<>(), new Attempt.Undone<>())) {
      GroupCommit<Call, String> commits =
          commits(calls -> calls.stream().map(_ -> outcome).toList());
      NonBlockingAttempt<String> work =
          new NonBlockingAttempt<>(() -> commits.settle(named("name")));
      var awaits = (NonBlockingAttempt.Outcome.Awaits<String>) work.run();
      awaits.start().get().get();

      assertThat(work.run()).isInstanceOf(NonBlockingAttempt.Outcome.Left.class);
      assertThat(transactions).containsExactly(List.of(named("name")));
      transactions.clear();
    }
  }

  @Test
  void aLostRaceIsRunAgainAlone() {
    AtomicInteger races = new AtomicInteger();
    GroupCommit<Call, String> commits =
        commits(
            calls -> {
              if (races.incrementAndGet() <= 3) {
                throw new LostRace("test");
              }
              return done(calls);
            });

    assertThat(commits.settle(named("racer"))).isEqualTo("racer!");
    assertThat(transactions).hasSize(4);
  }

  @Test
  void whoGetsNoTurnIsToldWhy() {
    GroupCommit<Call, String> commits =
        new GroupCommit<>(
            "test",
            new GroupCommit.Limits(1, 0, new Semaphore(0), new Semaphore(0), 1),
            (_, _) -> {
              throw new LostRace("test");
            },
            "busy",
            "overloaded");

    assertThat(commits.settle(new Call("batch", true, true))).isEqualTo("overloaded");
    assertThat(Deadline.after(SHORT).call(() -> commits.settle(named("named")))).isEqualTo("busy");
    assertThatThrownBy(
            () ->
                Deadline.after(SHORT)
                    .call(() -> commits.settle(new Call("generated", false, false))))
        .isInstanceOf(DatabaseUnavailable.class);
  }

  @Test
  void aGroupThatTheDatabaseFailedIsRepeatedOnceWhereThatComesToTheSame() {
    Queue<Boolean> works = new ArrayDeque<>(List.of(false, true, false, false, true, false));
    GroupCommit<Call, String> commits =
        commits(
            calls -> {
              if (works.remove()) {
                return done(calls);
              }
              throw new DatabaseUnavailable("test");
            });

    assertThat(commits.settle(named("repeatable"))).isEqualTo("repeatable!");
    assertThatThrownBy(() -> commits.settle(named("repeatable")))
        .isInstanceOf(DatabaseUnavailable.class);
    assertThat(commits.settle(named("other"))).isEqualTo("other!");
    assertThatThrownBy(() -> commits.settle(named("other")))
        .isInstanceOf(DatabaseUnavailable.class);
    assertThat(works).isEmpty();
  }

  private static Call named(String name) {
    return new Call(name, false, true);
  }

  private GroupCommit<Call, String> commits(Function<List<Call>, List<Attempt<String>>> work) {
    return new GroupCommit<>(
        "test",
        new GroupCommit.Limits(1, 0, new Semaphore(1), new Semaphore(1), 100),
        (calls, _) -> {
          transactions.add(List.copyOf(calls));
          return work.apply(calls);
        },
        "busy",
        "overloaded");
  }

  private static List<Attempt<String>> done(List<Call> calls) {
    return calls.stream()
        .<Attempt<String>>map(call -> new Attempt.Done<>(call.name() + "!"))
        .toList();
  }

  /** Returns when the call waits. */
  private static FutureTask<String> waiting(GroupCommit<Call, String> commits, Call call) {
    FutureTask<String> task = new FutureTask<>(() -> commits.settle(call));
    Thread caller = Thread.ofPlatform().start(task);
    Awaitility.await()
        .until(
            () ->
                caller.getState() == Thread.State.WAITING
                    || caller.getState() == Thread.State.TIMED_WAITING);
    return task;
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
    }
  }
}
