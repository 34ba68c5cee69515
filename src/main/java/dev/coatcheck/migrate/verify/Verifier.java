package dev.coatcheck.migrate.verify;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.backfill.KeyTimes;
import dev.coatcheck.migrate.source.ObjectsGone;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.steps.Outbox;
import dev.coatcheck.migrate.verify.VerifierFindings.Promise;
import dev.coatcheck.migrate.verify.VerifierStore.Published;
import dev.coatcheck.migrate.verify.VerifierStore.Row;
import dev.coatcheck.postgres.sql.Database;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Compares a table with what the gateway knows of it, and changes neither. It reads range after
 * range, each with a snapshot of its own; writers never wait for it.
 *
 * <p>Rows come and go meanwhile: of each range the source is read first, then the outbox is drained
 * of what it held by then, and only then the gateway is asked. A row that looks wrong is looked at
 * once more in the same order before it counts. A row that is gone is no finding.
 *
 * <p>A row is reported under one name, that of the cause. Keys in the archive were compared when
 * they were made: of those only their equality is asked for, because the order of keys from
 * different runs means nothing.
 */
public final class Verifier {
  private static final int RANGE_ROWS = 10_000;
  private static final int GATEWAY_ROWS = 2_000;
  private static final int DUPLICATES_MAX = 1_000;
  private static final int DRAINS_MAX = 1_000;
  private static final int WAITS_MAX = 20;
  private static final long HOUR_MILLIS = 3_600_000;

  private final VerifierStore store;
  private final Outbox outbox;
  private final int rangeRows;

  /**
   * Verifies one table.
   *
   * @param outbox one of its own, for the same thread
   */
  public Verifier(SourceSession source, Database gateway, Target target, Type type, Outbox outbox) {
    this(new VerifierStore(source.session(), gateway, target, type), outbox, RANGE_ROWS);
  }

  Verifier(VerifierStore store, Outbox outbox, int rangeRows) {
    this.store = store;
    this.outbox = outbox;
    this.rangeRows = rangeRows;
  }

  /**
   * What a verification found.
   *
   * @param rows that were looked at
   */
  public record Report(boolean clean, long rows, List<Check> checks) {
    public Report {
      checks = List.copyOf(checks);
    }
  }

  /**
   * What became of one promise.
   *
   * @param code its stable name
   * @param count how often it is broken; 0: it holds
   * @param samples up to 20 legacy IDs of rows, or names of objects
   */
  public record Check(String code, String title, long count, List<String> samples) {
    public Check {
      samples = List.copyOf(samples);
    }

    public boolean holds() {
      return count == 0;
    }
  }

  /**
   * Looks at all rows that are there when it begins.
   *
   * @param goOn asked before each range
   * @param progress is told how many rows were looked at
   * @return empty if it was stopped
   * @throws ObjectsGone if the row of the run is not there
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if one of the two databases can't be
   *     asked
   */
  public Optional<Report> run(BooleanSupplier goOn, LongConsumer progress) {
    VerifierStore.Bounds bounds = store.bounds();
    Pass pass = new Pass(bounds.t0Millis());
    pass.objects();
    pass.duplicates();
    long last = bounds.lastId().orElse(Long.MIN_VALUE);
    long rows = 0;
    for (long after = Long.MIN_VALUE; after < last; ) {
      if (!goOn.getAsBoolean()) {
        return Optional.empty();
      }
      VerifierStore.Range range = store.range(after, last, rangeRows);
      if (range.rows().isEmpty()) {
        break;
      }
      pass.verify(range);
      rows += range.rows().size();
      after = range.rows().getLast().legacy();
      progress.accept(rows);
    }
    return Optional.of(pass.findings.report(rows));
  }

  /** One run's findings, and what it carries from range to range. */
  private final class Pass {
    private final VerifierFindings findings = new VerifierFindings();
    private final Set<Long> duplicateKeys = new HashSet<>();
    private final long t0Millis;
    private long lastKey;

    /** Rows of the backfill whose times aren't judged yet, since what follows decides. */
    private final List<Row> timed = new ArrayList<>();

    private Pass(long t0Millis) {
      this.t0Millis = t0Millis;
    }

    private void objects() {
      add(Promise.CONSTRAINT_NOT_VALIDATED, store.constraintsNotValidated());
      add(Promise.INDEX_INVALID, store.invalidIndexes());
      add(Promise.SEQUENCE_CACHE, store.cachedSequences());
      add(Promise.TRIGGER_MISSING, store.triggersOff());
    }

    private void add(Promise promise, List<String> objects) {
      findings.add(promise, objects.size(), objects);
    }

    private void duplicates() {
      List<VerifierStore.Duplicate> found = store.duplicates(DUPLICATES_MAX);
      List<String> samples = new ArrayList<>();
      for (VerifierStore.Duplicate duplicate : found) {
        duplicateKeys.add(duplicate.key());
        samples.add(Long.toString(duplicate.firstId()));
        samples.add(Long.toString(duplicate.lastId()));
      }
      findings.add(Promise.DUPLICATE_KEY, found.isEmpty() ? 0 : found.getFirst().rows(), samples);
    }

    private void verify(VerifierStore.Range range) {
      for (Row row : range.rows()) {
        Promise broken = brokenByKey(row, range.nowMillis());
        if (broken != null) {
          findings.add(broken, Long.toString(row.legacy()));
        }
      }
      judgeTimes();
      drain();
      Map<Row, Promise> suspects = compare(range.rows());
      if (!suspects.isEmpty()) {
        List<Row> again = store.again(List.copyOf(suspects.keySet()));
        settle(again);
        compare(again)
            .forEach((row, promise) -> findings.add(promise, Long.toString(row.legacy())));
      }
    }

    /** What can be told from keys alone, which never change. */
    private @Nullable Promise brokenByKey(Row row, long nowMillis) {
      Long key = row.key();
      if (key == null || duplicateKeys.contains(key)) {
        return null;
      }
      long millis = SnowflakeLayout.DEFAULT.millisSinceEpoch(key);
      if (row.archived() != null) {
        return null;
      }
      int worker = SnowflakeLayout.DEFAULT.workerOf(key);
      if (worker == SnowflakeLayout.BACKFILL_WORKER) {
        boolean rises = key > lastKey;
        lastKey = key;
        timed.add(row);
        return rises ? null : Promise.INVERSION;
      }
      boolean isOfAnotherTime = millis < t0Millis || millis > nowMillis + HOUR_MILLIS;
      return worker == SnowflakeLayout.NUMBER_SOURCE_WORKER && isOfAnotherTime
          ? Promise.KEY_TIME
          : null;
    }

    /**
     * A key is never older than its row, if the row's neighbours bear out its time. That can't be
     * told of the table's last rows.
     */
    private void judgeTimes() {
      boolean[] kept =
          KeyTimes.certainlyKept(
              timed.stream().map(Pass::created).toArray(OptionalLong[]::new), t0Millis);
      int judged = Math.max(0, timed.size() - KeyTimes.LOOK_AHEAD);
      for (int i = 0; i < judged; i++) {
        Row row = timed.get(i);
        if (kept[i]
            && SnowflakeLayout.DEFAULT.millisSinceEpoch(Objects.requireNonNull(row.key()))
                < created(row).orElseThrow()) {
          findings.add(Promise.KEY_TIME, Long.toString(row.legacy()));
        }
      }
      timed.subList(0, judged).clear();
    }

    private static OptionalLong created(Row row) {
      Long created = row.createdMillis();
      return created == null ? OptionalLong.empty() : OptionalLong.of(created);
    }

    /** What seems to be wrong with rows, by what the source and the gateway say now. */
    private Map<Row, Promise> compare(List<Row> rows) {
      Map<Row, Promise> broken = new LinkedHashMap<>();
      List<Row> published = new ArrayList<>();
      for (Row row : rows) {
        Long key = row.key();
        if (key == null) {
          broken.put(row, Promise.NULL_KEY);
        } else if (row.archived() != null && !row.archived().equals(key)) {
          broken.put(row, Promise.ARCHIVE_CONFLICT);
        } else if (row.legacy() <= 0) {
          broken.put(row, Promise.MISSING_ALIAS);
        } else if (!duplicateKeys.contains(key)) {
          published.add(row);
        }
      }
      for (int from = 0; from < published.size(); from += GATEWAY_ROWS) {
        List<Row> some = published.subList(from, Math.min(published.size(), from + GATEWAY_ROWS));
        List<Published> known = store.published(some);
        for (int i = 0; i < some.size(); i++) {
          Promise promise = broken(known.get(i));
          if (promise != null) {
            broken.put(some.get(i), promise);
          }
        }
      }
      return broken;
    }
  }

  private static @Nullable Promise broken(Published known) {
    if (known.alias() == null) {
      return known.mapping() == null ? Promise.MISSING_MAPPING : Promise.MISSING_ALIAS;
    }
    if (known.mapping() == null) {
      return Promise.WRONG_MAPPING;
    }
    return known.alias().equals(known.mapping()) ? null : Promise.WRONG_ALIAS;
  }

  /** Brings as many entries as wait now; more may come all the time. */
  private void drain() {
    long waiting = outbox.lag().entries();
    for (int drained = 0; drained < DRAINS_MAX && waiting > 0; drained++) {
      int entries = outbox.drain().entries();
      waiting = entries == 0 ? 0 : waiting - entries;
    }
  }

  /** Brings the entries of rows, and waits for those that somebody else is bringing. */
  private void settle(List<Row> rows) {
    for (int waited = 0; waited < WAITS_MAX; waited++) {
      drain();
      if (!store.isWaiting(rows)) {
        return;
      }
    }
  }
}
