package dev.coatcheck.postgres.group;

import dev.coatcheck.core.attempt.NonBlockingAttempt;
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

  private final int groupsMax;
  private final int spareGroupsMax;
  private final int callsMax;
  private final DeadlineSweep deadlines;
  private final SharedWork<Q, A> work;

  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<WaitingCall<Q, A>> waiting = new ArrayDeque<>();
  private int underWay;

  /** When a group last took up calls. */
  private long takenNano;

  private boolean isWatched;

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
    this.groupsMax = groupsMax;
    this.spareGroupsMax = spareGroupsMax;
    this.callsMax = callsMax;
    this.deadlines = deadlines;
    this.work = new SharedWork<>(operation, work);
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
    WaitingCall<Q, A> mine = new WaitingCall<>(question, work);
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
      return work.alone(question);
    } finally {
      finished();
    }
  }

  /** Asks; the answer comes on another thread, by the thread's deadline. */
  private CompletableFuture<A> submit(Q question) {
    WaitingCall<Q, A> mine = new WaitingCall<>(question, work);
    lock.lock();
    try {
      enqueue(mine);
    } finally {
      lock.unlock();
    }
    deadlines.watch(mine);
    return mine.answer();
  }

  private A await(WaitingCall<Q, A> mine) {
    deadlines.watch(mine);
    return SingleFlight.await(mine.answer())
        .orElseThrow(
            () -> {
              mine.endLate();
              return work.late();
            });
  }

  /** With the lock. */
  private void enqueue(WaitingCall<Q, A> call) {
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
    List<WaitingCall<Q, A>> taken = next();
    while (!taken.isEmpty()) {
      Answers answers = work.worked(taken);
      taken = next();
      answers.handOut(taken.isEmpty());
    }
  }

  /** The next calls to work on; empty once there are none, and then this group has ended. */
  private List<WaitingCall<Q, A>> next() {
    lock.lock();
    try {
      List<WaitingCall<Q, A>> group = new ArrayList<>();
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
