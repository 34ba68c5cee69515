package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.InventoryStore.Relation;
import dev.coatcheck.migrate.plan.SizeStore.Count;
import dev.coatcheck.migrate.plan.SizeStore.Indexes;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Measures a table and its server. The rows of a small table are counted; those of a large one are
 * estimated from a sample of its pages and from what the last analyze saw.
 */
final class Sizing {
  /** Pages that are read for an estimate. */
  private static final long SAMPLE_PAGES = 2_000;

  private static final int PAGE_BYTES = 8_192;

  /** A scan of less says nothing about the server. */
  private static final double READ_BYTES_MIN = 1 << 20;

  /** In bytes a second. */
  private static final double READ_USUAL = 300e6;

  private static final double READ_LEAST = 10e6;
  private static final double READ_MOST = 2e9;

  /** What the reckoning takes on the core on which estimates were measured. */
  private static final double RECKONING_NANOS = 12e6;

  private static final double SLOWNESS_LEAST = 0.5;
  private static final double SLOWNESS_MOST = 4;

  private final SizeStore store;
  private final Inventory.Limits limits;
  private final LongSupplier nanoTime;

  Sizing(SizeStore store, Inventory.Limits limits, LongSupplier nanoTime) {
    this.store = store;
    this.limits = limits;
    this.nanoTime = nanoTime;
  }

  TableSize measure(Relation relation, TableName table, Optional<Target.TimeColumn> createdAt) {
    double percent = samplePercent(relation);
    long beganNano = nanoTime.getAsLong();
    Count count = store.count(table, createdAt, percent);
    long countNanos = nanoTime.getAsLong() - beganNano;
    boolean isEstimated = percent < 100;
    double readBytes = relation.heapBytes() * percent / 100;
    double read = readBytes < READ_BYTES_MIN ? READ_USUAL : readBytes * 1e9 / countNanos;
    Indexes indexes = store.indexes(relation.oid());
    return new TableSize(
        isEstimated && relation.tuples() >= 0 ? Math.round(relation.tuples()) : count.rows(),
        isEstimated,
        count.olderThanEpoch(),
        relation.bytes(),
        relation.heapBytes(),
        indexes.bytes(),
        indexes.count(),
        Math.clamp(read, READ_LEAST, READ_MOST),
        Math.clamp(reckoningNanos() / RECKONING_NANOS, SLOWNESS_LEAST, SLOWNESS_MOST),
        store.children(relation.oid()));
  }

  private double samplePercent(Relation relation) {
    boolean isSmall =
        relation.tuples() < limits.exactRowsMax() && relation.heapBytes() <= limits.exactBytesMax();
    long pages = Math.max(1, relation.heapBytes() / PAGE_BYTES);
    return isSmall ? 100 : Math.min(99, 100.0 * SAMPLE_PAGES / pages);
  }

  private long reckoningNanos() {
    long beganNano = nanoTime.getAsLong();
    store.reckon();
    return nanoTime.getAsLong() - beganNano;
  }
}
