package dev.coatcheck.migrate.verify;

import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.source.ObjectsGone;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.TargetSql;
import dev.coatcheck.migrate.table.Outbox;
import dev.coatcheck.migrate.verify.Findings.Promise;
import dev.coatcheck.migrate.verify.PublishedStore.Published;
import dev.coatcheck.migrate.verify.RowStore.Row;
import dev.coatcheck.postgres.sql.Database;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Compares a table with the gateway's mappings, and changes neither. It reads range after range,
 * each in its own snapshot; writers never wait for it.
 *
 * <p>Rows are inserted and deleted meanwhile. For each range, the verifier reads the source first,
 * then drains the entries that wait in the outbox at that time, and asks the gateway last. A row
 * that seems wrong is read again in the same order before it counts. A deleted row is not a
 * finding.
 *
 * <p>A row is reported once, under the cause.
 */
public final class Verifier {
  private static final int RANGE_ROWS = 10_000;
  private static final int GATEWAY_ROWS = 2_000;
  private static final int DUPLICATES_MAX = 1_000;
  private static final int DRAINS_MAX = 1_000;
  private static final int WAITS_MAX = 20;

  private final RowStore rows;
  private final ObjectStore objects;
  private final List<ChildStore> children;
  private final PublishedStore gateway;
  private final Outbox outbox;
  private final int rangeRows;

  /**
   * Verifies one table.
   *
   * @param outbox its own, for the same thread
   */
  public Verifier(SourceSession source, Database gateway, Target target, Type type, Outbox outbox) {
    this(source, new PublishedStore(gateway, type), target, outbox, RANGE_ROWS);
  }

  Verifier(
      SourceSession source, PublishedStore gateway, Target target, Outbox outbox, int rangeRows) {
    this.rows = new RowStore(source.session(), target);
    this.objects = new ObjectStore(source.session(), target);
    this.children =
        target.children().stream()
            .flatMap(
                child ->
                    child.leaves().stream()
                        .map(leaf -> new ChildStore(source.session(), target, child, leaf)))
            .toList();
    this.gateway = gateway;
    this.outbox = outbox;
    this.rangeRows = rangeRows;
  }

  /**
   * Checks all rows that exist at the start.
   *
   * @param goOn asked before each range
   * @return empty if the verification was stopped
   * @throws ObjectsGone if the row of the run is gone
   */
  public Optional<Report> run(BooleanSupplier goOn) {
    RowStore.Bounds bounds = rows.bounds();
    Findings findings = new Findings();
    objects(findings);
    Set<Long> duplicates = duplicates(findings);
    KeyRules keys = new KeyRules(bounds.t0Millis(), findings);
    long last = bounds.lastId().orElse(Long.MIN_VALUE);
    long looked = 0;
    long from = Long.MIN_VALUE;
    for (boolean isLast = false; !isLast; ) {
      if (!goOn.getAsBoolean()) {
        return Optional.empty();
      }
      RowStore.Range range = rows.range(from, last, rangeRows);
      if (range.rows().isEmpty()) {
        break;
      }
      keys.check(
          range.rows().stream().filter(row -> !duplicates.contains(row.key())).toList(),
          range.nowMillis());
      drain();
      compare(range.rows(), duplicates, findings);
      looked += range.rows().size();
      isLast = range.rows().getLast().legacy() == last;
      from = range.rows().getLast().legacy() + 1;
    }
    for (ChildStore child : children) {
      if (child.hasBoth() && !compare(child, findings, goOn)) {
        return Optional.empty();
      }
    }
    return Optional.of(findings.report(looked));
  }

  /** Each statement reads both columns in one snapshot. False if the verification was stopped. */
  private static boolean compare(ChildStore child, Findings findings, BooleanSupplier goOn) {
    findings.add(Promise.TRIGGER_MISSING, child.triggersOff());
    findings.add(Promise.INDEX_INVALID, child.invalidIndexes());
    for (long page = 0; page < child.pages(); page += ChildStore.PAGES) {
      if (!goOn.getAsBoolean()) {
        return false;
      }
      findings.add(Promise.CHILD_MISMATCH, child.mismatches(page));
    }
    return true;
  }

  private void objects(Findings findings) {
    findings.add(Promise.CONSTRAINT_NOT_VALIDATED, objects.constraintsNotValidated());
    findings.add(Promise.INDEX_INVALID, objects.invalidIndexes());
    findings.add(Promise.SEQUENCE_CACHE, objects.cachedSequences());
    findings.add(Promise.TRIGGER_MISSING, objects.triggersOff(TargetSql.TRIGGERS));
  }

  /** The keys that several rows have. Those rows are not checked further. */
  private Set<Long> duplicates(Findings findings) {
    List<ObjectStore.Duplicate> found = objects.duplicates(DUPLICATES_MAX);
    Set<Long> keys = new HashSet<>();
    List<String> samples = new ArrayList<>();
    for (ObjectStore.Duplicate duplicate : found) {
      keys.add(duplicate.key());
      samples.add(Long.toString(duplicate.firstId()));
      samples.add(Long.toString(duplicate.lastId()));
    }
    findings.add(Promise.DUPLICATE_KEY, found.isEmpty() ? 0 : found.getFirst().rows(), samples);
    return keys;
  }

  private void compare(List<Row> range, Set<Long> duplicates, Findings findings) {
    Map<Row, Promise> suspects = broken(range, duplicates);
    if (!suspects.isEmpty()) {
      List<Row> again = rows.again(List.copyOf(suspects.keySet()));
      settle(again);
      broken(again, duplicates).forEach((row, promise) -> findings.add(promise, row));
    }
  }

  /** What seems wrong with rows, from what the source and the gateway say now. */
  private Map<Row, Promise> broken(List<Row> some, Set<Long> duplicates) {
    Map<Row, Promise> broken = new LinkedHashMap<>();
    List<Row> published = new ArrayList<>();
    for (Row row : some) {
      Long key = row.key();
      if (key == null) {
        broken.put(row, Promise.NULL_KEY);
      } else if (row.archived() != null && !row.archived().equals(key)) {
        broken.put(row, Promise.ARCHIVE_CONFLICT);
      } else if (row.legacy() <= 0) {
        broken.put(row, Promise.MISSING_MAPPING);
      } else if (!duplicates.contains(key)) {
        published.add(row);
      }
    }
    for (int from = 0; from < published.size(); from += GATEWAY_ROWS) {
      List<Row> part = published.subList(from, Math.min(published.size(), from + GATEWAY_ROWS));
      List<Published> known = gateway.published(part);
      for (int i = 0; i < part.size(); i++) {
        Promise promise = broken(known.get(i));
        if (promise != null) {
          broken.put(part.get(i), promise);
        }
      }
    }
    return broken;
  }

  /** What is wrong with a row that has a key and a legacy ID. */
  static @Nullable Promise broken(Published known) {
    if (known.isErased()) {
      return null;
    }
    if (known.alias() == null) {
      return known.mapping() == null ? Promise.MISSING_MAPPING : Promise.MISSING_ALIAS;
    }
    if (known.mapping() == null) {
      return Promise.WRONG_MAPPING;
    }
    return known.alias().equals(known.mapping()) ? null : Promise.WRONG_ALIAS;
  }

  /** Delivers as many entries as wait now; more may arrive all the time. */
  private void drain() {
    long waiting = outbox.lag().entries();
    for (int drained = 0; drained < DRAINS_MAX && waiting > 0; drained++) {
      int entries = outbox.drain().entries();
      waiting = entries == 0 ? 0 : waiting - entries;
    }
  }

  /** Delivers the entries of rows, and waits for those that another relay is delivering. */
  private void settle(List<Row> some) {
    for (int waited = 0; waited < WAITS_MAX; waited++) {
      drain();
      if (!rows.isWaiting(some)) {
        return;
      }
    }
  }
}
