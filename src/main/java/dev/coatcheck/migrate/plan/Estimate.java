package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.inspect.TableSize;
import java.util.List;

/**
 * What a run is likely to take, without throttling and without writers beside it. Reckoned from the
 * sizes of the table and two short measurements of its server; figures of the same kind from other
 * machines differ by a factor of two.
 *
 * @param phases in their order
 * @param diskBytes that the source needs more, at most: until a vacuum each row takes its room
 *     twice, and each index may
 * @param walBytes that the source writes, which its replicas, its slots and its WAL archive take
 *     too
 * @param archiveBytes of the legacy IDs and keys that an undo puts aside
 * @param mappingBytes of public IDs and legacy IDs in the gateway's database; if that is the
 *     source, they are part of {@code diskBytes} too
 */
public record Estimate(
    List<PhaseTime> phases, long diskBytes, long walBytes, long archiveBytes, long mappingBytes) {

  /** In seconds, at least one. */
  public record PhaseTime(String phase, long seconds) {}

  /** On two cores, of a row with one index, with the mappings written beside it. */
  private static final double FILL_MICROS = 45;

  private static final double FILL_INDEX_MICROS = 5;
  private static final double SORT_MICROS = 1;
  private static final double CHECK_MICROS = 0.1;
  private static final double VERIFY_MICROS = 45;

  /** A bigint in a new B-tree: 16 bytes and a pointer of 4, in pages that are full to 90 %. */
  private static final double INDEX_ROW_BYTES = 22;

  /** Two bigints in a table, and the first of them in its index. */
  private static final double ARCHIVE_ROW_BYTES = 44 + INDEX_ROW_BYTES;

  /** A mapping with its alias, and their indexes. */
  private static final double MAPPING_ROW_BYTES = 380;

  /** The new column, with its padding and the bitmap that its nulls ask for. */
  private static final double COLUMN_BYTES = 12;

  private static final double WAL_RECORD_BYTES = 60;

  public Estimate {
    phases = List.copyOf(phases);
  }

  /**
   * Of a run on a table.
   *
   * @param isGateway the table lies in the gateway's own database, beside the mappings
   */
  static Estimate of(TableSize table, boolean isGateway) {
    double rows = table.rows();
    double heapAfter = 2 * table.heapBytes() + rows * COLUMN_BYTES;
    double scan = heapAfter / table.readBytesPerSecond();
    double newIndex = rows * INDEX_ROW_BYTES;
    double mappings = rows * MAPPING_ROW_BYTES;
    double fillMicros = FILL_MICROS + FILL_INDEX_MICROS * table.indexes();
    double disk =
        table.heapBytes()
            + rows * COLUMN_BYTES
            + table.indexBytes()
            + newIndex
            + (isGateway ? mappings : 0);
    // A page is written whole when it is first changed after a checkpoint.
    double wal =
        heapAfter
            + table.heapBytes()
            + 2 * table.indexBytes()
            + newIndex
            + rows * WAL_RECORD_BYTES * (1 + table.indexes())
            + (isGateway ? 2 * mappings : 0);
    return new Estimate(
        List.of(
            time("expand", 0),
            time("backfill", rows * fillMicros * table.slowness() / 1e6 + scan / 2),
            time("index", rows * SORT_MICROS * table.slowness() / 1e6 + 2 * scan),
            time("not_null", rows * CHECK_MICROS * table.slowness() / 1e6 + scan),
            time("verify", rows * VERIFY_MICROS * table.slowness() / 1e6 + scan)),
        Math.round(disk),
        Math.round(wal),
        Math.round(rows * ARCHIVE_ROW_BYTES),
        Math.round(mappings));
  }

  private static PhaseTime time(String phase, double seconds) {
    return new PhaseTime(phase, Math.max(1, Math.round(seconds)));
  }
}
