package dev.coatcheck.migrate.table;

import dev.coatcheck.migrate.source.SqlTemplate;
import java.util.Arrays;
import java.util.OptionalLong;

/**
 * Decides which rows keep their creation time. Keys only rise, so without this rule one row with a
 * wrong time would shift the keys of all rows after it.
 *
 * <p>Rows are taken in the order of their IDs, in blocks of {@value #BLOCK} from the first row on.
 * A row keeps its time if that is at most the median time of the next block. If the next block is
 * not full, which happens at the end of the table, the next {@value #BLOCK} rows count instead, as
 * many as there are. The very last row keeps its time. All other times are dropped, not clipped,
 * because a clipped time would still shift its neighbours. A time after T0 counts as none, and a
 * time in the last minute before T0 only confirms others. Times that are too low need no rule,
 * because keys only rise.
 *
 * <p>A batch of whole blocks, with one more block to read ahead, gives the same keys as any other
 * division of the table into batches of whole blocks.
 */
public final class KeyTimes {
  /** Rows of a block. Every batch except the last one has a multiple of this. */
  public static final int BLOCK = 128;

  /** This many later rows decide about a row, wherever the blocks begin. */
  public static final int LOOK_AHEAD = 2 * BLOCK;

  /** No time this close before T0 is used, to keep a distance to the keys of the triggers. */
  private static final int MARGIN_MILLIS = 60_000;

  /** The same rule in SQL. */
  private static final SqlTemplate PARTS = SqlTemplate.file(KeyTimes.class, "key-times.sql");

  private KeyTimes() {}

  /** A statement beside this class, with the rule at {@code <key_times>}. */
  static SqlTemplate template(String file) {
    return SqlTemplate.file(KeyTimes.class, file).with("key_times", PARTS.text());
  }

  /** The rows of a batch of about this size, in whole blocks. */
  public static int wholeBlocks(int rows) {
    return Math.max(BLOCK, rows / BLOCK * BLOCK);
  }

  /**
   * The same rule for rows outside of Postgres.
   *
   * @param stated the times of rows in the order of their IDs, starting with a block, in
   *     milliseconds since the layout's epoch; empty for a row without a time
   * @param inside how many of the rows are asked about. The others are the whole next block, or
   *     what is left of it at the end
   * @param t0Millis T0, since the layout's epoch
   * @param isEnd whether the table ends with these rows. If not, rows with less than half a block
   *     after them have no time, because later rows might contradict it
   * @return the times that count
   */
  public static OptionalLong[] kept(
      OptionalLong[] stated, int inside, long t0Millis, boolean isEnd) {
    OptionalLong[] times = possible(stated, t0Millis);
    OptionalLong[] kept = new OptionalLong[inside];
    OptionalLong cap = OptionalLong.empty();
    for (int i = 0; i < inside; i++) {
      int next = (i / BLOCK + 1) * BLOCK;
      if (!isEnd && i + BLOCK / 2 >= times.length) {
        cap = OptionalLong.empty();
      } else if (i == times.length - 1) {
        cap = times[i];
      } else if (next + BLOCK > times.length) {
        cap = median(times, i + 1);
      } else if (i % BLOCK == 0) {
        cap = median(times, next);
      }
      boolean isBorneOut =
          times[i].isPresent()
              && times[i].getAsLong() <= t0Millis - MARGIN_MILLIS
              && cap.isPresent()
              && times[i].getAsLong() <= cap.getAsLong();
      kept[i] = isBorneOut ? times[i] : OptionalLong.empty();
    }
    return kept;
  }

  /**
   * Which rows certainly keep their times, wherever the blocks begin: rows may have been deleted
   * since they were counted, even the last ones of the table.
   *
   * @param stated as for {@link #kept}, of consecutive rows; nothing is certain about the last
   *     {@value #LOOK_AHEAD}
   */
  public static boolean[] certainlyKept(OptionalLong[] stated, long t0Millis) {
    OptionalLong[] times = possible(stated, t0Millis);
    long[] medians = medians(times);
    boolean[] kept = new boolean[times.length];
    for (int i = 0; i < times.length - LOOK_AHEAD; i++) {
      long time = times[i].orElse(Long.MAX_VALUE);
      boolean isBorneOut = time <= t0Millis - MARGIN_MILLIS;
      for (int next = i + 1; isBorneOut && next <= i + BLOCK; next++) {
        isBorneOut = time <= medians[next];
      }
      kept[i] = isBorneOut;
    }
    return kept;
  }

  private static OptionalLong[] possible(OptionalLong[] stated, long t0Millis) {
    return Arrays.stream(stated)
        .map(time -> isPossible(time, t0Millis) ? time : OptionalLong.empty())
        .toArray(OptionalLong[]::new);
  }

  private static boolean isPossible(OptionalLong time, long t0Millis) {
    return time.isPresent() && time.getAsLong() >= 0 && time.getAsLong() <= t0Millis;
  }

  /** The median of the block or its rest from each row on, or -1: one sorted block that slides. */
  private static long[] medians(OptionalLong[] times) {
    long[] medians = new long[times.length + 1];
    long[] block = new long[BLOCK];
    int size = 0;
    for (int from = times.length - 1; from > 0; from--) {
      if (from + BLOCK < times.length && times[from + BLOCK].isPresent()) {
        int gone = Arrays.binarySearch(block, 0, size, times[from + BLOCK].getAsLong());
        size--;
        System.arraycopy(block, gone + 1, block, gone, size - gone);
      }
      if (times[from].isPresent()) {
        int place = Arrays.binarySearch(block, 0, size, times[from].getAsLong());
        int come = place < 0 ? ~place : place;
        System.arraycopy(block, come, block, come + 1, size - come);
        block[come] = times[from].getAsLong();
        size++;
      }
      medians[from] = size == 0 ? -1 : block[(size - 1) / 2];
    }
    return medians;
  }

  /** The median of a block or its rest; the lower of two. Ignores rows without a time. */
  private static OptionalLong median(OptionalLong[] times, int from) {
    long[] sorted =
        Arrays.stream(times, from, Math.min(times.length, from + BLOCK))
            .flatMapToLong(OptionalLong::stream)
            .sorted()
            .toArray();
    return sorted.length == 0
        ? OptionalLong.empty()
        : OptionalLong.of(sorted[(sorted.length - 1) / 2]);
  }
}
