package dev.coatcheck.postgres.group;

import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.connection.WithoutWaiting;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;

/**
 * Lets calls that come at the same time share one statement or one transaction. A lone caller works
 * on its own thread, at no cost; while {@code groupsMax} groups are under way the others gather. If
 * none of these has finished for 250 ms, a spare group takes up those that wait, so that a late
 * group is late for its own callers only.
 *
 * <p>A caller waits until its own deadline at most, however long the groups before take. A group
 * works until the latest deadline of its calls, so that a call which is nearly over doesn't end the
 * others; and it leaves out the calls that have too little time left for its work.
 *
 * @param <Q> what is asked
 * @param <A> what is answered
 */
public final class Coalescer<Q, A> {
  private static final long WORK_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(200);

  /** Leaves a spare group most of the 900 ms that a single call has. */
  private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final String operation;
  private final int groupsMax;
  private final int spareGroupsMax;
  private final int callsMax;
  private final Function<List<Q>, List<A>> work;

  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<Waiting<Q, A>> waiting = new ArrayDeque<>();
  private int underWay;

  /** When a group last took up calls. */
  private long takenNano;

  private boolean isWatched;

  private record Waiting<Q, A>(Q question, Deadline deadline, CompletableFuture<A> answer) {}

  /** A question in the work of one caller. */
  private record Asked<Q, A>(Coalescer<Q, A> of, Q question) {}

  /** As the other one, without spare groups. */
  public Coalescer(String operation, int groupsMax, int callsMax, Function<List<Q>, List<A>> work) {
    this(operation, groupsMax, 0, callsMax, work);
  }

  /**
   * Shares {@code work}.
   *
   * @param operation for messages
   * @param groupsMax how many groups may be under way at a time
   * @param spareGroupsMax how many more while these are late
   * @param callsMax how many calls share a group at most
   * @param work answers all questions, in their order; what it throws, every caller gets
   */
  Coalescer(
      String operation,
      int groupsMax,
      int spareGroupsMax,
      int callsMax,
      Function<List<Q>, List<A>> work) {
    this.operation = operation;
    this.groupsMax = groupsMax;
    this.spareGroupsMax = spareGroupsMax;
    this.callsMax = callsMax;
    this.work = work;
  }

  /**
   * Asks, and waits for the answer until the thread's deadline. A thread that must not {@linkplain
   * WithoutWaiting wait} leaves, and comes back for the answer.
   *
   * @throws DatabaseUnavailable if there is none by then; whether the work was done is unknown
   */
  public A call(Q question) {
    if (WithoutWaiting.isRequired()) {
      return WithoutWaiting.await(new Asked<>(this, question), () -> submit(question));
    }
    Waiting<Q, A> mine = waiting(question);
    boolean alone;
    lock.lock();
    try {
      alone = isIdle();
      if (alone) {
        underWay++;
        takenNano = System.nanoTime();
      } else {
        enqueue(mine);
      }
    } finally {
      lock.unlock();
    }
    if (!alone) {
      return await(mine);
    }
    try {
      return work.apply(List.of(question)).getFirst();
    } finally {
      finished();
    }
  }

  /**
   * Asks; the answer comes on a thread of the group, within the thread's deadline. A lone call does
   * not wait for other calls, and the use of Postgres has bounds of its own.
   */
  private CompletableFuture<A> submit(Q question) {
    Waiting<Q, A> mine = waiting(question);
    boolean alone;
    lock.lock();
    try {
      alone = isIdle();
      enqueue(mine);
    } finally {
      lock.unlock();
    }
    if (alone) {
      return mine.answer();
    }
    return mine.answer()
        .orTimeout(mine.deadline().leftNanos(), TimeUnit.NANOSECONDS)
        .exceptionallyCompose(
            failed ->
                CompletableFuture.failedFuture(
                    failed instanceof TimeoutException ? late() : failed));
  }

  /** With the lock. */
  private boolean isIdle() {
    return underWay == 0 && waiting.isEmpty();
  }

  private Waiting<Q, A> waiting(Q question) {
    return new Waiting<>(question, Deadline.current(), new CompletableFuture<>());
  }

  private A await(Waiting<Q, A> mine) {
    return SingleFlight.await(mine.answer(), mine.deadline().leftNanos())
        .orElseThrow(
            () -> {
              mine.answer().completeExceptionally(late()); // so that no group takes it up any more
              return late();
            });
  }

  private DatabaseUnavailable late() {
    return new DatabaseUnavailable(operation);
  }

  /** With the lock. */
  private void enqueue(Waiting<Q, A> call) {
    waiting.add(call);
    if (underWay < groupsMax) {
      startGroup();
    } else {
      watch();
    }
  }

  /** With the lock. */
  private void startGroup() {
    underWay++;
    Thread.ofVirtual().name("group").start(this::workOff);
  }

  /** With the lock. */
  private void watch() {
    if (!isWatched && underWay < groupsMax + spareGroupsMax) {
      isWatched = true;
      long untilLateNanos = LATE_NANOS - (System.nanoTime() - takenNano);
      CompletableFuture.delayedExecutor(untilLateNanos, TimeUnit.NANOSECONDS).execute(this::look);
    }
  }

  /** Starts a spare group if calls wait and the groups are late. */
  private void look() {
    lock.lock();
    try {
      isWatched = false;
      if (!waiting.isEmpty()) {
        if (System.nanoTime() - takenNano >= LATE_NANOS) {
          startGroup();
          takenNano = System.nanoTime();
        }
        watch();
      }
    } finally {
      lock.unlock();
    }
  }

  private void finished() {
    lock.lock();
    try {
      underWay--;
      if (!waiting.isEmpty() && underWay < groupsMax) {
        startGroup();
      }
    } finally {
      lock.unlock();
    }
  }

  private void workOff() {
    List<Waiting<Q, A>> taken = next();
    while (!taken.isEmpty()) {
      Answers answers = worked(taken);
      taken = next();
      answers.handOut(taken.isEmpty());
    }
  }

  private Answers worked(List<Waiting<Q, A>> taken) {
    List<Waiting<Q, A>> group = new ArrayList<>(taken.size());
    List<Waiting<Q, A>> tooLate = new ArrayList<>();
    for (Waiting<Q, A> call : taken) {
      if (call.deadline().leftNanos() < WORK_NANOS_MIN) {
        tooLate.add(call);
      } else if (!call.answer().isDone()) {
        group.add(call);
      }
    }
    Answers answers = new Answers();
    answers.add(tooLate, (call, _) -> call.answer().completeExceptionally(late()));
    if (!group.isEmpty()) {
      answers.add(group, work(group));
    }
    return answers;
  }

  private ObjIntConsumer<Waiting<Q, A>> work(List<Waiting<Q, A>> group) {
    try {
      List<Q> questions = group.stream().map(Waiting::question).toList();
      List<A> answers = latest(group).call(() -> work.apply(questions));
      return (call, i) -> call.answer().complete(answers.get(i));
    } catch (RuntimeException | Error failed) {
      return (call, _) -> call.answer().completeExceptionally(failed);
    }
  }

  private static <Q, A> Deadline latest(List<Waiting<Q, A>> group) {
    Deadline latest = group.getFirst().deadline();
    for (Waiting<Q, A> call : group) {
      latest = call.deadline().isLaterThan(latest) ? call.deadline() : latest;
    }
    return latest;
  }

  /** The next calls to work on; empty once there are none, and then this group has ended. */
  private List<Waiting<Q, A>> next() {
    lock.lock();
    try {
      List<Waiting<Q, A>> group = new ArrayList<>();
      while (group.size() < callsMax && !waiting.isEmpty()) {
        group.add(waiting.remove());
      }
      if (group.isEmpty()) {
        underWay--;
      } else {
        takenNano = System.nanoTime();
      }
      return group;
    } finally {
      lock.unlock();
    }
  }
}
