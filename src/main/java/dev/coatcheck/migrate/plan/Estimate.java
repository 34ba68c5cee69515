package dev.coatcheck.migrate.plan;

import dev.coatcheck.core.name.WireNamed;
import dev.coatcheck.migrate.table.Phase;
import java.util.List;

/**
 * Estimates a run without throttling and without concurrent writers, from the sizes of the table
 * and two short measurements of its server. Figures from other machines differ by a factor of two.
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

  /** Two bigints read, sorted and written, with an index. */
  private static final double ARCHIVE_MICROS = 5;

  /** The fill of a twin with its two triggers, the index, and the look at the foreign keys. */
  private static final double CHILD_MICROS = 40;

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
    TableSize.Children children = table.children();
    double twins = children.rows() * (COLUMN_BYTES + INDEX_ROW_BYTES);
    double childScan =
        (2 * children.heapBytes() + children.rows() * COLUMN_BYTES) / table.readBytesPerSecond();
    double mappings = rows * MAPPING_ROW_BYTES;
    double fillMicros = FILL_MICROS + FILL_INDEX_MICROS * table.indexes();
    double index = rows * SORT_MICROS * table.slowness() / 1e6 + 2 * scan;
    double disk =
        table.heapBytes()
            + rows * COLUMN_BYTES
            + table.indexBytes()
            + newIndex
            + children.heapBytes()
            + children.indexBytes()
            + twins
            + (isGateway ? mappings : 0);
    // A page is written whole when it is first changed after a checkpoint.
    double wal =
        heapAfter
            + table.heapBytes()
            + 2 * table.indexBytes()
            + newIndex
            + rows * WAL_RECORD_BYTES * (1 + table.indexes())
            + 3 * children.heapBytes()
            + 2 * children.indexBytes()
            + twins
            + 2 * children.rows() * WAL_RECORD_BYTES
            + (isGateway ? 2 * mappings : 0);
    return new Estimate(
        List.of(
            time("expand", 0),
            time("backfill", rows * fillMicros * table.slowness() / 1e6 + scan / 2),
            time("index", index),
            time("not_null", rows * CHECK_MICROS * table.slowness() / 1e6 + scan),
            time(
                "children",
                children.rows() * CHILD_MICROS * table.slowness() / 1e6 + 4 * childScan),
            time("verify", rows * VERIFY_MICROS * table.slowness() / 1e6 + scan + childScan),
            time("prepare_switch", index),
            time("switch", 2 * index + childScan),
            time("contract", rows * ARCHIVE_MICROS * table.slowness() / 1e6 + scan + childScan)),
        Math.round(disk),
        Math.round(wal),
        Math.round(rows * ARCHIVE_ROW_BYTES),
        Math.round(mappings));
  }

  Estimate keepingPrimaryKey() {
    List<PhaseTime> usual =
        phases.stream()
            .filter(
                time ->
                    WireNamed.find(Phase.class, time.phase()).filter(Phase::isUsual).isPresent())
            .toList();
    return new Estimate(usual, diskBytes, walBytes, archiveBytes, mappingBytes);
  }

  /** Of the two unique indexes that the switch of the primary key adds. */
  public static long switchDiskBytes(long rows) {
    return Math.round(2 * rows * INDEX_ROW_BYTES);
  }

  private static PhaseTime time(String phase, double seconds) {
    return new PhaseTime(phase, Math.max(1, Math.round(seconds)));
  }
}
