package dev.coatcheck.postgres.group;

import dev.coatcheck.postgres.connection.Deadline;
import java.util.concurrent.CompletableFuture;

/** A call that waits for its group until its deadline. */
record WaitingCall<Q, A>(Q question, Deadline deadline, CompletableFuture<A> answer) {
  /** One that begins to wait, with the deadline of its thread. */
  static <Q, A> WaitingCall<Q, A> now(Q question) {
    return new WaitingCall<>(question, Deadline.current(), new CompletableFuture<>());
  }
}
