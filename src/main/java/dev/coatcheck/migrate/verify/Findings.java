package dev.coatcheck.migrate.verify;

import dev.coatcheck.migrate.verify.RowStore.Row;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** The findings of a verification so far: their number per promise, and the first ones by name. */
final class Findings {
  private static final int SAMPLES_MAX = 20;

  /** A promise of a migrated table. Its name in lower case is stable. */
  enum Promise {
    NULL_KEY("every row has a new key"),
    DUPLICATE_KEY("no two rows have the same new key"),
    INVERSION("the backfill's keys rise with the old IDs"),
    MISSING_MAPPING("every row's key has a public ID"),
    WRONG_MAPPING("the public ID of a row's old ID belongs to its key"),
    MISSING_ALIAS("every row's old ID is known"),
    WRONG_ALIAS("a row's old ID and its key have the same public ID"),
    KEY_TIME("the times in the keys can be true"),
    CONSTRAINT_NOT_VALIDATED("our constraints hold for old rows too"),
    INDEX_INVALID("our indexes are complete"),
    SEQUENCE_CACHE("the number source has a cache of 1"),
    TRIGGER_MISSING("all of our triggers are on the table and enabled"),
    ARCHIVE_CONFLICT("no row's key differs from the one that its old ID had before"),
    CHILD_MISMATCH("each row of a child names the same row by its old column and by its twin");

    private final String title;

    Promise(String title) {
      this.title = title;
    }
  }

  private static final class Found {
    private final List<String> samples = new ArrayList<>();
    private long count;
  }

  private final Map<Promise, Found> found = new EnumMap<>(Promise.class);

  void add(Promise promise, Row row) {
    add(promise, 1, List.of(Long.toString(row.legacy())));
  }

  void add(Promise promise, List<String> objects) {
    add(promise, objects.size(), objects);
  }

  void add(Promise promise, long count, List<String> samples) {
    Found so = of(promise);
    so.count += count;
    samples.stream().limit(SAMPLES_MAX - so.samples.size()).forEach(so.samples::add);
  }

  Report report(long rows) {
    return report(rows, EnumSet.allOf(Promise.class));
  }

  Report report(long rows, Set<Promise> looked) {
    List<Report.Check> checks =
        Arrays.stream(Promise.values())
            .filter(looked::contains)
            .map(
                promise ->
                    new Report.Check(
                        promise.name().toLowerCase(Locale.ROOT),
                        promise.title,
                        of(promise).count,
                        of(promise).samples))
            .toList();
    return new Report(checks.stream().allMatch(Report.Check::holds), rows, checks);
  }

  private Found of(Promise promise) {
    return found.computeIfAbsent(promise, _ -> new Found());
  }
}
