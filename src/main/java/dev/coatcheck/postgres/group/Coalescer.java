package dev.coatcheck.postgres.group;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
import dev.coatcheck.postgres.connection.Deadline;
import dev.coatcheck.postgres.connection.DeadlineSweep;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
  /** Leaves a spare group most of the 900 ms that a single call has. */
  private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /** A call with less time left would end before its group has. */
  private static final long WORK_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(200);

  private final String operation;
  private final int groupsMax;
  private final int spareGroupsMax;
  private final int callsMax;
  private final DeadlineSweep deadlines;
  private final Function<List<Q>, List<A>> work;

  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<Waiting> waiting = new ArrayDeque<>();
  private int underWay;

  /** When a group last took up calls. */
  private long takenNano;

  private boolean isWatched;

  /** A call that waits for its group until its deadline. */
  private final class Waiting implements DeadlineSweep.Timed {
    private final Q question;
    private final Deadline deadline = Deadline.current();
    private final CompletableFuture<A> answer = new CompletableFuture<>();

    Waiting(Q question) {
      this.question = question;
    }

    @Override
    public Deadline deadline() {
      return deadline;
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
      answer.completeExceptionally(late());
    }
  }

  /** A question in the work of one caller. */
  private record Asked<Q, A>(Coalescer<Q, A> of, Q question) {}

  /** As the other one, without spare groups. */
  public Coalescer(String operation, int groupsMax, int callsMax, Function<List<Q>, List<A>> work) {
    this(operation, groupsMax, 0, callsMax, DeadlineSweep.SHARED, work);
  }

  /**
   * Shares {@code work}.
   *
   * @param operation for messages
   * @param groupsMax how many groups may be under way at a time
   * @param spareGroupsMax how many more while these are late
   * @param callsMax how many calls share a group at most
   * @param deadlines ends the calls that wait
   * @param work answers all questions, in their order; what it throws, every caller gets
   */
  Coalescer(
      String operation,
      int groupsMax,
      int spareGroupsMax,
      int callsMax,
      DeadlineSweep deadlines,
      Function<List<Q>, List<A>> work) {
    this.operation = operation;
    this.groupsMax = groupsMax;
    this.spareGroupsMax = spareGroupsMax;
    this.callsMax = callsMax;
    this.deadlines = deadlines;
    this.work = work;
  }

  /**
   * Asks, and waits for the answer until the thread's deadline. A {@link NonBlockingAttempt} ends
   * here, and finds the answer when it runs again.
   *
   * @throws DatabaseUnavailable if there is none by then; whether the work was done is unknown
   */
  public A call(Q question) {
    if (NonBlockingAttempt.isRunning()) {
      return NonBlockingAttempt.await(new Asked<>(this, question), () -> submit(question));
    }
    Waiting mine = new Waiting(question);
    boolean alone;
    lock.lock();
    try {
      alone = underWay == 0 && waiting.isEmpty();
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

  /** Asks; the answer comes on another thread, by the thread's deadline. */
  private CompletableFuture<A> submit(Q question) {
    Waiting mine = new Waiting(question);
    lock.lock();
    try {
      enqueue(mine);
    } finally {
      lock.unlock();
    }
    deadlines.watch(mine);
    return mine.answer;
  }

  private A await(Waiting mine) {
    deadlines.watch(mine);
    return SingleFlight.await(mine.answer)
        .orElseThrow(
            () -> {
              mine.endLate();
              return late();
            });
  }

  /** With the lock. */
  private void enqueue(Waiting call) {
    waiting.add(call);
    attend();
  }

  /** With the lock, while calls wait: has a group take them up, at the latest when it is late. */
  private void attend() {
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
      if (!waiting.isEmpty()) {
        attend();
      }
    } finally {
      lock.unlock();
    }
  }

  private void workOff() {
    List<Waiting> taken = next();
    while (!taken.isEmpty()) {
      Answers answers = worked(taken);
      taken = next();
      answers.handOut(taken.isEmpty());
    }
  }

  /** The next calls to work on; empty once there are none, and then this group has ended. */
  private List<Waiting> next() {
    lock.lock();
    try {
      List<Waiting> group = new ArrayList<>();
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

  /** Works for the calls that have time for it and still wait. */
  private Answers worked(List<Waiting> taken) {
    List<Waiting> group = new ArrayList<>(taken.size());
    List<Waiting> tooLate = new ArrayList<>();
    for (Waiting call : taken) {
      if (call.deadline.leftNanos() < WORK_NANOS_MIN) {
        tooLate.add(call);
      } else if (!call.isOver()) {
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

  private ObjIntConsumer<Waiting> work(List<Waiting> group) {
    try {
      List<Q> questions = group.stream().map(call -> call.question).toList();
      List<A> answers = latest(group).call(() -> work.apply(questions));
      return (call, i) -> call.answer.complete(answers.get(i));
    } catch (RuntimeException | Error failed) {
      return (call, _) -> call.answer.completeExceptionally(failed);
    }
  }

  private Deadline latest(List<Waiting> group) {
    Deadline latest = group.getFirst().deadline;
    for (Waiting call : group) {
      latest = call.deadline.isLaterThan(latest) ? call.deadline : latest;
    }
    return latest;
  }

  private DatabaseUnavailable late() {
    return new DatabaseUnavailable(operation);
  }
}
