package dev.coatcheck.migrate.relay;

import dev.coatcheck.bulk.load.LegacyKeyWriter.LegacyKey;
import dev.coatcheck.core.observe.Background;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.migrate.relay.ActiveTables.ActiveTable;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.table.Outbox;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Relays the mappings of new rows from every outbox as long as the triggers exist, whatever the
 * state of the run. Instances share the work with row locks.
 */
public final class OutboxRelay implements AutoCloseable {
  private static final long LAG_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** The maximum for one outbox before the next one gets its turn. */
  private static final int DRAINS_MAX = 50;

  private final GatewayMappings mappings;
  private final BiConsumer<ActiveTable, String> refusals;
  private final LongSupplier nanoTime;
  private final SourceRounds rounds;
  private final Background background;

  /** By the number of the run. */
  private final Map<Long, Outbox> outboxes = new ConcurrentHashMap<>();

  /** When the lag of a source's outboxes is reported next, by the name of the source. */
  private final Map<String, Long> lagDueNano = new ConcurrentHashMap<>();

  /**
   * @param refusals is told of rows whose mapping contradicts an existing mapping
   */
  public OutboxRelay(
      GatewayMappings mappings,
      Sources sources,
      BiConsumer<ActiveTable, String> refusals,
      LongSupplier nanoTime) {
    this.mappings = mappings;
    this.nanoTime = nanoTime;
    this.refusals = refusals;
    this.rounds = new SourceRounds(sources, "table-migration-outbox");
    this.background = new Background("table-migration-outbox", mappings.observer());
  }

  /** Starts to relay the entries of all outboxes. */
  public void follow(ActiveTables active) {
    List<ActiveTable> tables = active.all().stream().filter(ActiveTable::hasOutbox).toList();
    outboxes.keySet().retainAll(tables.stream().map(ActiveTable::run).collect(Collectors.toSet()));
    rounds.begin(tables, this::round);
  }

  /** Relays the entries of the outboxes of one source, one outbox after the other. */
  void round(Source source, List<ActiveTable> tables) {
    long now = nanoTime.getAsLong();
    boolean isLagDue = now - lagDueNano.getOrDefault(source.name(), now) >= 0;
    if (isLagDue) {
      lagDueNano.put(source.name(), now + LAG_NANOS);
    }
    for (ActiveTable table : tables) {
      boolean _ = background.run(() -> drain(source, table, isLagDue));
    }
  }

  private void drain(Source source, ActiveTable table, boolean isLagDue) {
    Outbox outbox =
        outboxes.computeIfAbsent(
            table.run(), _ -> mappings.outbox(source, table.target(), table.typeNumber()));
    for (int drain = 0; drain < DRAINS_MAX; drain++) {
      Outbox.Drained drained = outbox.drain();
      if (!drained.refused().isEmpty()) {
        refused(table, drained.refused());
      }
      if (drained.entries() == 0) {
        break;
      }
    }
    if (isLagDue) {
      Outbox.Lag lag = outbox.lag();
      mappings
          .observer()
          .observe(
              new Event.OutboxFollowed(
                  table.target().table().text(), lag.entries(), lag.seconds()));
    }
  }

  private void refused(ActiveTable table, List<LegacyKey> rows) {
    refused(
        table,
        rows.stream().filter(row -> row.legacy() >= 1).toList(),
        "another public ID has its legacy ID or key.");
    refused(
        table,
        rows.stream().filter(row -> row.legacy() < 1).toList(),
        "no legacy ID is below 1, so these rows have no public ID. Delete them, and insert them"
            + " again with other numbers if they are needed.");
  }

  private void refused(ActiveTable table, List<LegacyKey> rows, String why) {
    if (!rows.isEmpty()) {
      refusals.accept(
          table,
          "%d rows, the first with legacy ID %d: %s Verify lists them all."
              .formatted(rows.size(), rows.getFirst().legacy(), why));
    }
  }

  /** Breaks off running work. An entry that was not deleted is relayed again. */
  @Override
  public void close() {
    rounds.close();
  }
}
