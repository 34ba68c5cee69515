package dev.coatcheck.bench.speed;

import dev.coatcheck.bench.load.LoadResult;
import dev.coatcheck.bench.machine.CpuClock;
import java.time.Duration;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * A measure or a baseline of it.
 *
 * @param what a name for people
 * @param perRequest how many are counted for each request: the rows of a batch
 * @param server the process that answers; Postgres is counted apart
 */
record Side(String what, Busy busy, int perRequest, CpuClock server) {
  Side(String what, Busy busy, CpuClock server) {
    this(what, busy, 1, server);
  }

  /** Something that can be kept busy for a while. */
  @FunctionalInterface
  interface Busy {
    LoadResult during(Duration time);
  }

  /**
   * One round.
   *
   * @param serverMicros CPU of the server for each that was counted
   */
  record Turn(
      LoadResult result,
      double perSecond,
      OptionalDouble serverMicros,
      OptionalDouble postgresMicros) {}

  Turn during(Duration time, CpuClock postgres) {
    OptionalLong serverBefore = server.micros();
    OptionalLong postgresBefore = postgres.micros();
    LoadResult result = busy.during(time).requireServed(what);
    OptionalLong postgresAfter = postgres.micros();
    OptionalLong serverAfter = server.micros();
    long count = result.served() * perRequest;
    return new Turn(
        result,
        result.servedPerSecond() * perRequest,
        each(serverBefore, serverAfter, count),
        each(postgresBefore, postgresAfter, count));
  }

  private static OptionalDouble each(OptionalLong before, OptionalLong after, long count) {
    return before.isPresent() && after.isPresent()
        ? OptionalDouble.of((double) (after.getAsLong() - before.getAsLong()) / count)
        : OptionalDouble.empty();
  }
}
