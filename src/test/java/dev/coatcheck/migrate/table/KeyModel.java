package dev.coatcheck.migrate.table;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The rule for keys of old rows as the documents have it, row by row and without any batches. */
public final class KeyModel {
  private KeyModel() {}

  /**
   * Keys of rows in the order of their IDs.
   *
   * @param created since the layout's epoch; null: the row doesn't say
   * @param position after which the keys begin
   */
  public static List<Long> keys(List<@Nullable Long> created, long t0, long position) {
    List<Long> keys = new ArrayList<>();
    long last = position;
    for (Long time : used(created, t0)) {
      last = Math.max(last + 1, time == null ? 0 : time * 4096);
      keys.add(last / 4096 * 4096 * 1024 + 1022 * 4096 + last % 4096);
    }
    return keys;
  }

  /** How many rows stated a time that is of no use. */
  public static long lost(List<@Nullable Long> created, long t0) {
    List<@Nullable Long> used = used(created, t0);
    long lost = 0;
    for (int i = 0; i < created.size(); i++) {
      Long time = created.get(i);
      lost += time != null && time >= 0 && used.get(i) == null ? 1 : 0;
    }
    return lost;
  }

  private static List<@Nullable Long> used(List<@Nullable Long> created, long t0) {
    List<@Nullable Long> times = new ArrayList<>();
    for (Long time : created) {
      times.add(time != null && time >= 0 && time <= t0 ? time : null);
    }
    List<@Nullable Long> used = new ArrayList<>();
    for (int i = 0; i < times.size(); i++) {
      Long time = times.get(i);
      Long cap = i == times.size() - 1 ? time : median(after(times, i));
      used.add(time != null && time <= t0 - 60_000 && cap != null && time <= cap ? time : null);
    }
    return used;
  }

  /** The block after the row's own, or where that is not full the next rows. */
  private static List<@Nullable Long> after(List<@Nullable Long> times, int row) {
    int next = row / 128 * 128 + 128;
    return next + 128 <= times.size()
        ? times.subList(next, next + 128)
        : times.subList(row + 1, Math.min(times.size(), row + 129));
  }

  private static @Nullable Long median(List<@Nullable Long> times) {
    List<Long> known = new ArrayList<>(times.stream().flatMap(Stream::ofNullable).toList());
    Collections.sort(known);
    return known.isEmpty() ? null : Objects.requireNonNull(known.get((known.size() + 1) / 2 - 1));
  }
}
