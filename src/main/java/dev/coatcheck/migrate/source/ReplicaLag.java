package dev.coatcheck.migrate.source;

import dev.coatcheck.migrate.source.SourceLoad.Replicas;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/**
 * The lag of the slowest replica in seconds, by our own clock: the age of the oldest position that
 * we saw written and that the replica has not replayed. Postgres's own {@code replay_lag} is null
 * until a replica that paused, or that applies with a delay, replays something.
 */
final class ReplicaLag {
  private static final int SAMPLES_MAX = 10_000;

  private record Sample(long position, long nano) {}

  private final Deque<Sample> unreplayed = new ArrayDeque<>();

  /** To be called about once a second. */
  long seconds(Replicas replicas, long nowNano) {
    if (unreplayed.size() < SAMPLES_MAX) {
      unreplayed.addLast(new Sample(replicas.written(), nowNano));
    }
    while (!unreplayed.isEmpty() && unreplayed.getFirst().position() <= replicas.replayed()) {
      unreplayed.removeFirst();
    }
    return unreplayed.isEmpty()
        ? 0
        : TimeUnit.NANOSECONDS.toSeconds(nowNano - unreplayed.getFirst().nano());
  }
}
