package dev.coatcheck.postgres.sql;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * Lets calls that come at the same time share one statement or one transaction. A lone caller works
 * on its own thread, at no cost; while {@code groupsMax} groups are under way the others gather.
 *
 * @param <Q> what is asked
 * @param <A> what is answered
 */
public final class Coalescer<Q, A> {
  private final int groupsMax;
  private final int callsMax;
  private final Function<List<Q>, List<A>> work;

  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<Waiting<Q, A>> waiting = new ArrayDeque<>();
  private int underWay;

  private record Waiting<Q, A>(Q question, CompletableFuture<A> answer) {}

  /**
   * Shares {@code work}.
   *
   * @param groupsMax how many groups may be under way at a time
   * @param callsMax how many calls share a group at most
   * @param work answers all questions, in their order; what it throws, every caller gets
   */
  public Coalescer(int groupsMax, int callsMax, Function<List<Q>, List<A>> work) {
    this.groupsMax = groupsMax;
    this.callsMax = callsMax;
    this.work = work;
  }

  /** Asks, and waits for the answer. As many wait as there are callers: admit them before. */
  public A call(Q question) {
    Waiting<Q, A> mine = new Waiting<>(question, new CompletableFuture<>());
    boolean alone;
    lock.lock();
    try {
      alone = underWay == 0 && waiting.isEmpty();
      if (alone) {
        underWay++;
      } else {
        waiting.add(mine);
        startGroup();
      }
    } finally {
      lock.unlock();
    }
    if (alone) {
      try {
        return work.apply(List.of(question)).getFirst();
      } finally {
        finished();
      }
    }
    try {
      return mine.answer().join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof RuntimeException known) {
        throw known;
      }
      throw failed;
    }
  }

  private void startGroup() {
    if (underWay < groupsMax) {
      underWay++;
      Thread.ofVirtual().name("group").start(this::workOff);
    }
  }

  private void finished() {
    lock.lock();
    try {
      underWay--;
      if (!waiting.isEmpty()) {
        startGroup();
      }
    } finally {
      lock.unlock();
    }
  }

  private void workOff() {
    for (List<Waiting<Q, A>> group = next(); !group.isEmpty(); group = next()) {
      try {
        List<A> answers = work.apply(group.stream().map(Waiting::question).toList());
        for (int i = 0; i < group.size(); i++) {
          group.get(i).answer().complete(answers.get(i));
        }
      } catch (RuntimeException | Error failed) {
        group.forEach(one -> one.answer().completeExceptionally(failed));
      }
    }
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
      }
      return group;
    } finally {
      lock.unlock();
    }
  }
}
