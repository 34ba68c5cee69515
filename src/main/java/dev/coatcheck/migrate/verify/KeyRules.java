package dev.coatcheck.migrate.verify;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import dev.coatcheck.migrate.table.KeyTimes;
import dev.coatcheck.migrate.verify.Findings.Promise;
import dev.coatcheck.migrate.verify.RowStore.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * Checks what keys alone show; they never change. Keys in the archive were checked when they were
 * generated: the order of keys from different runs has no meaning.
 */
final class KeyRules {
  private static final SnowflakeLayout LAYOUT = SnowflakeLayout.DEFAULT;
  private static final long HOUR_MILLIS = 3_600_000;

  private final long t0Millis;
  private final Findings findings;
  private long lastKey;

  /** Rows of the backfill whose times can't be judged before the following rows are read. */
  private final List<Row> timed = new ArrayList<>();

  /**
   * @param t0Millis when the triggers were created, since the epoch of the layout
   */
  KeyRules(long t0Millis, Findings findings) {
    this.t0Millis = t0Millis;
    this.findings = findings;
  }

  /**
   * @param nowMillis when they were read, since the epoch of the layout
   */
  void check(List<Row> rows, long nowMillis) {
    for (Row row : rows) {
      Long key = row.key();
      if (key != null && row.archived() == null) {
        check(row, key, nowMillis);
      }
    }
    judgeTimes();
  }

  private void check(Row row, long key, long nowMillis) {
    int worker = LAYOUT.workerOf(key);
    if (worker == WorkerUses.BACKFILL) {
      if (key <= lastKey) {
        findings.add(Promise.INVERSION, row);
      }
      lastKey = key;
      timed.add(row);
    } else if (worker == WorkerUses.NUMBER_SOURCE) {
      long millis = LAYOUT.millisSinceEpoch(key);
      if (millis < t0Millis || millis > nowMillis + HOUR_MILLIS) {
        findings.add(Promise.KEY_TIME, row);
      }
    }
  }

  /**
   * A key is never older than its row, if the neighbours of the row confirm its time. The last rows
   * of the table can't be judged.
   */
  private void judgeTimes() {
    boolean[] kept =
        KeyTimes.certainlyKept(
            timed.stream().map(KeyRules::created).toArray(OptionalLong[]::new), t0Millis);
    int judged = Math.max(0, timed.size() - KeyTimes.LOOK_AHEAD);
    for (int i = 0; i < judged; i++) {
      Row row = timed.get(i);
      if (kept[i]
          && LAYOUT.millisSinceEpoch(Objects.requireNonNull(row.key()))
              < created(row).orElseThrow()) {
        findings.add(Promise.KEY_TIME, row);
      }
    }
    timed.subList(0, judged).clear();
  }

  private static OptionalLong created(Row row) {
    Long created = row.createdMillis();
    return created == null ? OptionalLong.empty() : OptionalLong.of(created);
  }
}
