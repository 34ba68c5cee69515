package dev.coatcheck.migrate.run;

import dev.coatcheck.bulk.load.LegacyKeyTable.LegacyKey;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.backfill.FillAhead;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Brings one legacy ID whose mapping is not there yet: reads the source row and mints on the spot.
 * A few at a time: a source that hangs must not hold up everybody else.
 */
final class ReadThrough {
  private static final int RUNNING_MAX = 4;
  private static final long WAIT_MILLIS_MAX = 400;

  private final Occupied occupied;
  private final Sources sources;
  private final Workshop workshop;
  private final Semaphore places = new Semaphore(RUNNING_MAX);

  ReadThrough(Occupied occupied, Sources sources, Workshop workshop) {
    this.occupied = occupied;
    this.sources = sources;
    this.workshop = workshop;
  }

  boolean mayBring(Type type) {
    return occupied.ofType(type.number()).filter(Occupied.Run::hasTriggers).isPresent();
  }

  /**
   * Whether there is a mapping now that wasn't there before.
   *
   * @throws DatabaseUnavailable if the source can't be asked now
   */
  boolean bring(Type type, long legacy) {
    Optional<Occupied.Run> run = occupied.ofType(type.number()).filter(Occupied.Run::hasTriggers);
    Optional<Source> source = run.flatMap(one -> sources.named(one.run().source()));
    if (source.isEmpty()) {
      return false;
    }
    enter();
    try {
      return bring(run.orElseThrow().run(), source.get(), legacy);
    } finally {
      places.release();
    }
  }

  private void enter() {
    try {
      if (places.tryAcquire(WAIT_MILLIS_MAX, TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    throw new DatabaseUnavailable("source row");
  }

  private boolean bring(TableMigration run, Source source, long legacy) {
    OptionalLong key = new FillAhead(source.database(), run.target()).find(legacy);
    if (key.isEmpty()) {
      return false;
    }
    workshop.mappings(run).insertAlone(workshop.gateway(), new LegacyKey(legacy, key.getAsLong()));
    return true;
  }
}
