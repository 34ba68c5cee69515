package dev.coatcheck.migrate.relay;

import dev.coatcheck.bulk.load.LegacyKeyTable.LegacyKey;
import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.steps.Outbox;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** Empties the outboxes of one source, one after the other. For one thread at a time. */
final class SourceFollower {
  private static final long LAG_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Of one outbox, before the next one has its turn. */
  private static final int DRAINS_MAX = 50;

  private final GatewayMappings mappings;
  private final Source source;
  private final BiConsumer<ActiveTable, String> refusals;
  private final Background background;

  /** By the number of the run. */
  private final Map<Long, Outbox> outboxes = new HashMap<>();

  private final LongSupplier nanoTime;
  private long lagDueNano;

  SourceFollower(
      GatewayMappings mappings,
      Source source,
      BiConsumer<ActiveTable, String> refusals,
      LongSupplier nanoTime) {
    this.mappings = mappings;
    this.source = source;
    this.refusals = refusals;
    this.nanoTime = nanoTime;
    this.lagDueNano = nanoTime.getAsLong();
    this.background = new Background("table-migration-outbox", mappings.observer());
  }

  /** Brings what waits in the outboxes of these tables. */
  void round(List<ActiveTable> tables) {
    boolean lagDue = nanoTime.getAsLong() - lagDueNano >= 0;
    if (lagDue) {
      lagDueNano = nanoTime.getAsLong() + LAG_NANOS;
    }
    outboxes.keySet().retainAll(tables.stream().map(ActiveTable::run).collect(Collectors.toSet()));
    for (ActiveTable table : tables) {
      boolean _ = background.run(() -> drain(table, lagDue));
    }
  }

  private void drain(ActiveTable table, boolean lagDue) {
    Outbox outbox =
        outboxes.computeIfAbsent(
            table.run(), _ -> mappings.outbox(source, table.target(), table.typeNumber()));
    for (int drain = 0; drain < DRAINS_MAX; drain++) {
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
        "%d rows, the first with legacy ID %d: another public ID has its legacy ID or key."
                .formatted(count, first.legacy())
            + " Verify lists them all.");
  }
}
