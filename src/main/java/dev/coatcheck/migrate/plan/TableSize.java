package dev.coatcheck.migrate.plan;

/**
 * How large a table is, and how fast its server works.
 *
 * @param rows exact for a small table, else an estimate
 * @param olderThanEpoch rows that were made before the layout's epoch; as exact as {@code rows}
 * @param bytes with indexes and TOAST
 * @param heapBytes without indexes and TOAST, which an update of another column leaves as it is
 * @param readBytesPerSecond of a scan of the table
 * @param slowness of the server's core; 1: as fast as the core on which estimates were measured, 2:
 *     half as fast
 */
record TableSize(
    long rows,
    boolean isEstimated,
    long olderThanEpoch,
    long bytes,
    long heapBytes,
    long indexBytes,
    int indexes,
    double readBytesPerSecond,
    double slowness,
    Children children) {

  /**
   * Of the tables with foreign keys to it, each counted once for each of its foreign keys.
   *
   * @param rows as the last analyze saw them
   */
  record Children(long rows, long heapBytes, long indexBytes) {}
}
