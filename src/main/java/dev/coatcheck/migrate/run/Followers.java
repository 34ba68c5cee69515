package dev.coatcheck.migrate.run;

import dev.coatcheck.bulk.load.LegacyKeyTable.LegacyKey;
import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.steps.Outbox;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Brings the mappings of new rows from every outbox, whatever the state of its run: as long as the
 * triggers are there. Instances share the work by row locks.
 */
final class Followers {
  private static final long LAG_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final int ROUNDS_MAX = 50;

  private final Workshop workshop;
  private final Sources sources;
  private final Background background;
  private final Map<Long, Outbox> outboxes = new HashMap<>();
  private long lagDueNano = System.nanoTime();

  Followers(Workshop workshop, Sources sources) {
    this.workshop = workshop;
    this.sources = sources;
    this.background = new Background("table-migration-outbox", workshop.observer());
  }

  /** Brings what waits in all of them. */
  void follow(Occupied occupied) {
    boolean lagDue = System.nanoTime() - lagDueNano >= 0;
    if (lagDue) {
      lagDueNano = System.nanoTime() + LAG_NANOS;
    }
    for (Occupied.Run one : occupied.all()) {
      Optional<Source> source = sources.named(one.run().source());
      if (one.hasOutbox() && source.isPresent()) {
        follow(one.run(), source.get(), lagDue);
      }
    }
  }

  private void follow(TableMigration run, Source source, boolean lagDue) {
    Outbox outbox = outboxes.computeIfAbsent(run.id(), _ -> workshop.outbox(run, source));
    boolean _ = background.run(() -> drain(run, outbox, lagDue));
  }

  private void drain(TableMigration run, Outbox outbox, boolean lagDue) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
      Outbox.Drained drained = outbox.drain();
      if (!drained.refused().isEmpty()) {
        refused(run, drained.refused().getFirst(), drained.refused().size());
      }
      if (drained.entries() == 0) {
        break;
      }
    }
    if (lagDue) {
      Outbox.Lag lag = outbox.lag();
      workshop
          .observer()
          .observe(
              new Event.OutboxFollowed(run.target().table().text(), lag.entries(), lag.seconds()));
    }
  }

  private void refused(TableMigration run, LegacyKey first, int count) {
    workshop.event(
        run,
        "mapping_refused",
        "%d rows, the first with legacy ID %d: its legacy ID or key belongs to another public ID."
                .formatted(count, first.legacy())
            + " Verify names them all.");
  }
}
