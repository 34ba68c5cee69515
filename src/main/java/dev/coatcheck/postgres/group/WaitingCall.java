package dev.coatcheck.postgres.group;

import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.connection.DeadlineSweep;
import java.util.concurrent.CompletableFuture;

/** A call that waits for its group until its deadline. */
record WaitingCall<Q, A>(
    Q question, Deadline deadline, SharedWork<Q, A> work, CompletableFuture<A> answer)
    implements DeadlineSweep.Timed {
  /** One that begins to wait, with the deadline of its thread. */
  WaitingCall(Q question, SharedWork<Q, A> work) {
    this(question, Deadline.current(), work, new CompletableFuture<>());
  }

  @Override
  public boolean isOver() {
    return answer.isDone();
  }

  /** On another thread: who waits for the answer may send it on, which takes its time. */
  @Override
  public void end() {
    Thread.startVirtualThread(this::endLate);
  }

  /** No group takes it up any more. */
  void endLate() {
    answer.completeExceptionally(work.late());
  }
}
