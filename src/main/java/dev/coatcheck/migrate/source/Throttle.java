package dev.coatcheck.migrate.source;

import dev.coatcheck.postgres.sql.Database;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Decides whether a run has to wait for other work of the source, and for which. Reads the load
 * once a second.
 */
public final class Throttle {
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int MEGABYTE_BITS = 20;

  private final LoadStore store;
  private final LongSupplier nanoTime;
  private final ReplicaLag replicaLag = new ReplicaLag();
  private final WalBudget walBudget = new WalBudget();
  private Optional<String> last = Optional.empty();
  private volatile Optional<Load> lastLoad = Optional.empty();
  private Optional<ThrottleSettings> lastSettings = Optional.empty();
  private long lookedNano;

  /** When the running vacuum of the table was first seen. */
  private OptionalLong vacuumNano = OptionalLong.empty();

  /**
   * What the last look saw of the source, for those who watch a run.
   *
   * @param replicaLagSeconds of the slowest replica; empty without a replica
   * @param walBytes the position that the source had written; empty if nothing needed it, because
   *     some services don't provide it
   */
  public record Load(OptionalLong replicaLagSeconds, OptionalLong walBytes) {}

  public Throttle(Database source, Target target, LongSupplier nanoTime) {
    this.store = new LoadStore(source, target, nanoTime);
    this.nanoTime = nanoTime;
  }

  /** The reason to wait, if there is one. */
  public Optional<String> reason(ThrottleSettings settings) {
    long now = nanoTime.getAsLong();
    if (!lastSettings.equals(Optional.of(settings)) || now - lookedNano >= LOOK_NANOS) {
      last = look(settings, now);
      lastSettings = Optional.of(settings);
      lookedNano = now;
    }
    return last;
  }

  /** What the last look saw; empty before the first. */
  public Optional<Load> load() {
    return lastLoad;
  }

  private Optional<String> look(ThrottleSettings settings, long now) {
    SourceLoad load = store.load();
    long ownLag = load.replicas().map(seen -> replicaLag.seconds(seen, now)).orElse(0L);
    if (!load.vacuum()) {
      vacuumNano = OptionalLong.empty();
    } else if (vacuumNano.isEmpty()) {
      vacuumNano = OptionalLong.of(now);
    }
    // Called every time, so that a wait for another reason doesn't count as saved WAL.
    OptionalLong written = written(settings, load);
    boolean isWalSpent = isWalSpent(settings, written, now);
    long lag = Math.max(load.replicaLagSeconds(), ownLag);
    lastLoad =
        Optional.of(
            new Load(
                load.replicas().isPresent() ? OptionalLong.of(lag) : OptionalLong.empty(),
                written));
    if (load.wraparoundVacuum()) {
      return Optional.of("a vacuum against wraparound works on the table");
    }
    if (settings.archiveFailures() && load.archivingFails()) {
      return Optional.of("WAL can't be archived on the source");
    }
    return above(lag, settings.replicaLagSecondsMax(), "a replica is %d s behind")
        .or(() -> load.slot().flatMap(slot -> kept(slot, settings)))
        .or(
            () ->
                isWalSpent
                    ? Optional.of(
                        "the source writes more than %d MB of WAL a second"
                            .formatted(settings.walMegabytesPerSecondMax()))
                    : Optional.empty())
        .or(
            () ->
                above(load.lockWaits(), settings.lockWaitsMax(), "%d sessions wait for the table"))
        .or(
            () ->
                above(
                    load.longTransactionSeconds(),
                    settings.longTransactionSecondsMax(),
                    "a transaction is %d s old"))
        .or(
            () ->
                above(
                    load.latencyMillis(),
                    settings.latencyMillisMax(),
                    "reading one row takes %d ms"))
        .or(() -> vacuum(settings, now));
  }

  private OptionalLong written(ThrottleSettings settings, SourceLoad load) {
    return settings.walMegabytesPerSecondMax() > 0
        ? OptionalLong.of(store.walPosition())
        : load.replicas().map(seen -> OptionalLong.of(seen.written())).orElse(OptionalLong.empty());
  }

  private boolean isWalSpent(ThrottleSettings settings, OptionalLong written, long now) {
    return settings.walMegabytesPerSecondMax() > 0
        && walBudget.isSpent(
            written.orElseThrow(),
            now,
            (long) settings.walMegabytesPerSecondMax() << MEGABYTE_BITS);
  }

  private static Optional<String> kept(SourceLoad.Slot slot, ThrottleSettings settings) {
    return above(
        slot.bytes() >> MEGABYTE_BITS,
        settings.slotMegabytesMax(),
        "the replication slot " + slot.name().replace("%", "%%") + " keeps %d MB of WAL");
  }

  /** A vacuum may take hours, for instance because of its cost limits. */
  private Optional<String> vacuum(ThrottleSettings settings, long now) {
    if (vacuumNano.isEmpty()) {
      return Optional.empty();
    }
    long seconds = TimeUnit.NANOSECONDS.toSeconds(now - vacuumNano.getAsLong());
    return seconds < settings.vacuumSecondsMax()
        ? Optional.of(
            "a vacuum works on the table, for %d s of at most %d"
                .formatted(seconds, settings.vacuumSecondsMax()))
        : Optional.empty();
  }

  private static Optional<String> above(long value, int max, String sentence) {
    return max > 0 && value > max
        ? Optional.of(sentence.formatted(value) + ", more than " + max)
        : Optional.empty();
  }
}
