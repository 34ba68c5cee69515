package dev.coatcheck.migrate.throttle;

import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.postgres.sql.Database;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Says whether the source has something better to do, and what. Looks once a second. */
public final class Throttle {
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Database source;
  private final Target target;
  private final LongSupplier nanoTime;
  private Optional<SourceLoad> last = Optional.empty();
  private long lookedNano;

  public Throttle(Database source, Target target, LongSupplier nanoTime) {
    this.source = source;
    this.target = target;
    this.nanoTime = nanoTime;
  }

  /** Why to wait, if there is a reason. */
  public Optional<String> reason(Knobs knobs) {
    long now = nanoTime.getAsLong();
    if (last.isEmpty() || now - lookedNano >= LOOK_NANOS) {
      last = Optional.of(SourceLoad.of(source, target));
      lookedNano = now;
    }
    return last.flatMap(load -> reason(load, knobs));
  }

  private static Optional<String> reason(SourceLoad load, Knobs knobs) {
    if (load.wraparoundVacuum()) {
      return Optional.of("a vacuum against wraparound works on the table");
    }
    if (knobs.archiveFailures() && load.archivingFails()) {
      return Optional.of("WAL can't be archived on the source");
    }
    return above(load.replicaLagSeconds(), knobs.replicaLagSecondsMax(), "a replica is %d s behind")
        .or(() -> above(load.lockWaits(), knobs.lockWaitsMax(), "%d sessions wait for the table"))
        .or(
            () ->
                above(
                    load.longTransactionSeconds(),
                    knobs.longTransactionSecondsMax(),
                    "a transaction is %d s old"))
        .or(
            () ->
                above(
                    load.latencyMillis(), knobs.latencyMillisMax(), "reading one row takes %d ms"));
  }

  private static Optional<String> above(long value, int max, String sentence) {
    return max > 0 && value > max
        ? Optional.of(sentence.formatted(value) + ", more than " + max)
        : Optional.empty();
  }
}
