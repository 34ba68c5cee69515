package dev.coatcheck.migrate.relay;

import dev.coatcheck.bulk.load.LegacyKeyTable.LegacyKey;
import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.steps.Outbox;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * Brings the mappings of new rows from every outbox, whatever the state of its run: as long as the
 * triggers are there. Instances share the work by row locks.
 */
public final class OutboxRelay {
  private static final long LAG_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final int ROUNDS_MAX = 50;

  private final GatewayMappings mappings;
  private final Sources sources;
  private final BiConsumer<ActiveTable, String> refusals;
  private final Background background;
  private final Map<Long, Outbox> outboxes = new HashMap<>();
  private long lagDueNano = System.nanoTime();

  /**
   * Brings nothing until it is told to.
   *
   * @param refusals is told of rows whose mapping contradicts one that is there
   */
  public OutboxRelay(
      GatewayMappings mappings, Sources sources, BiConsumer<ActiveTable, String> refusals) {
    this.mappings = mappings;
    this.sources = sources;
    this.refusals = refusals;
    this.background = new Background("table-migration-outbox", mappings.observer());
  }

  /** Brings what waits in all of them. */
  public void follow(ActiveTables active) {
    boolean lagDue = System.nanoTime() - lagDueNano >= 0;
    if (lagDue) {
      lagDueNano = System.nanoTime() + LAG_NANOS;
    }
    for (ActiveTable table : active.all()) {
      Optional<Source> source = sources.named(table.source());
      if (table.hasOutbox() && source.isPresent()) {
        follow(table, source.get(), lagDue);
      }
    }
  }

  private void follow(ActiveTable table, Source source, boolean lagDue) {
    Outbox outbox =
        outboxes.computeIfAbsent(
            table.run(), _ -> mappings.outbox(source, table.target(), table.typeNumber()));
    boolean _ = background.run(() -> drain(table, outbox, lagDue));
  }

  private void drain(ActiveTable table, Outbox outbox, boolean lagDue) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
      Outbox.Drained drained = outbox.drain();
      if (!drained.refused().isEmpty()) {
        refused(table, drained.refused().getFirst(), drained.refused().size());
      }
      if (drained.entries() == 0) {
        break;
      }
    }
    if (lagDue) {
      Outbox.Lag lag = outbox.lag();
      mappings
          .observer()
          .observe(
              new Event.OutboxFollowed(
                  table.target().table().text(), lag.entries(), lag.seconds()));
    }
  }

  private void refused(ActiveTable table, LegacyKey first, int count) {
    refusals.accept(
        table,
        "%d rows, the first with legacy ID %d: its legacy ID or key belongs to another public ID."
                .formatted(count, first.legacy())
            + " Verify names them all.");
  }
}
