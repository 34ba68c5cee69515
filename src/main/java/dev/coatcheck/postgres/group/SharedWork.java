package dev.coatcheck.postgres.group;

import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;

/** What a group of calls does, and which of its calls it is done for. */
final class SharedWork<Q, A> {
  private static final long WORK_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(200);

  private final String operation;
  private final Function<List<Q>, List<A>> work;

  SharedWork(String operation, Function<List<Q>, List<A>> work) {
    this.operation = operation;
    this.work = work;
  }

  /** Works for one caller, on its thread. */
  A alone(Q question) {
    return work.apply(List.of(question)).getFirst();
  }

  /** Works for the calls that have time for it and still wait. */
  Answers worked(List<WaitingCall<Q, A>> taken) {
    List<WaitingCall<Q, A>> group = new ArrayList<>(taken.size());
    List<WaitingCall<Q, A>> tooLate = new ArrayList<>();
    for (WaitingCall<Q, A> call : taken) {
      if (call.deadline().leftNanos() < WORK_NANOS_MIN) {
        tooLate.add(call);
      } else if (!call.answer().isDone()) {
        group.add(call);
      }
    }
    Answers answers = new Answers();
    answers.add(tooLate, (call, _) -> call.endLate());
    if (!group.isEmpty()) {
      answers.add(group, work(group));
    }
    return answers;
  }

  private ObjIntConsumer<WaitingCall<Q, A>> work(List<WaitingCall<Q, A>> group) {
    try {
      List<Q> questions = group.stream().map(WaitingCall::question).toList();
      List<A> answers = latest(group).call(() -> work.apply(questions));
      return (call, i) -> call.answer().complete(answers.get(i));
    } catch (RuntimeException | Error failed) {
      return (call, _) -> call.answer().completeExceptionally(failed);
    }
  }

  private static <Q, A> Deadline latest(List<WaitingCall<Q, A>> group) {
    Deadline latest = group.getFirst().deadline();
    for (WaitingCall<Q, A> call : group) {
      latest = call.deadline().isLaterThan(latest) ? call.deadline() : latest;
    }
    return latest;
  }

  /** For a caller whose time is over. */
  DatabaseUnavailable late() {
    return new DatabaseUnavailable(operation);
  }
}
