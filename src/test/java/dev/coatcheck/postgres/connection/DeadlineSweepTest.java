package dev.coatcheck.postgres.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DeadlineSweepTest {
  private final AtomicLong clock = new AtomicLong();
  private final DeadlineSweep sweep = new DeadlineSweep(clock::get);

  private static final class Call implements DeadlineSweep.Timed {
    private final Deadline deadline;
    private final AtomicInteger ends = new AtomicInteger();
    private volatile boolean isOver;

    Call(Deadline deadline) {
      this.deadline = deadline;
    }

    @Override
    public Deadline deadline() {
      return deadline;
    }

    @Override
    public boolean isOver() {
      return isOver;
    }

    @Override
    public void end() {
      ends.incrementAndGet();
    }
  }

  private Call watched(long nano) {
    Call call = new Call(new Deadline(nano));
    sweep.watch(call);
    return call;
  }

  @Test
  void eachEndsAtItsOwnDeadlineAndNotBefore() {
    Call early = watched(1_000);
    Call late = watched(2_000);
    clock.set(999);
    sweep.look();
    assertThat(early.ends).hasValue(0);

    clock.set(1_000);
    sweep.look();
    assertThat(early.ends).hasPositiveValue();
    assertThat(late.ends).hasValue(0);

    clock.set(2_000);
    sweep.look();
    assertThat(late.ends).hasPositiveValue();
    assertThat(sweep.watched()).isZero();
  }

  @Test
  void whatIsOverIsNotEndedAndNotKept() {
    Call call = watched(1_000);
    call.isOver = true;

    sweep.look();
    clock.set(2_000);
    sweep.look();

    assertThat(call.ends).hasValue(0);
    assertThat(sweep.watched()).isZero();
  }

  @Test
  void theThreadLooksByItselfWhileSomethingIsWatchedAndSleepsAfterwards() {
    Thread thread = sweep.thread();
    assertThat(thread.isDaemon()).as("holds up the end of the process").isTrue();
    await().until(() -> thread.getState() == Thread.State.WAITING);

    Call call = watched(1_000);
    await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
    assertThat(call.ends).hasValue(0);
    clock.set(1_000);
    await().until(() -> call.ends.get() == 1);

    await().until(() -> thread.getState() == Thread.State.WAITING);
    assertThat(sweep.watched()).isZero();
  }

  @Test
  void anEndThatFailsEndsNoOther() {
    sweep.watch(
        new DeadlineSweep.Timed() {
          @Override
          public Deadline deadline() {
            return new Deadline(1_000);
          }

          @Override
          public boolean isOver() {
            return false;
          }

          @Override
          public void end() {
            throw new OutOfMemoryError("as told");
          }
        });
    Call next = watched(2_000);

    clock.set(2_000);

    await().until(() -> next.ends.get() == 1);
    assertThat(sweep.watched()).as("tried again").isEqualTo(1);
  }
}
