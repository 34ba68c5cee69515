package dev.coatcheck.migrate.inspect;

import dev.coatcheck.migrate.inspect.InventoryStore.Count;
import dev.coatcheck.migrate.inspect.InventoryStore.PrimaryKey;
import dev.coatcheck.migrate.inspect.InventoryStore.Range;
import dev.coatcheck.migrate.inspect.InventoryStore.Relation;
import dev.coatcheck.migrate.inspect.InventoryStore.Server;
import dev.coatcheck.migrate.inspect.InventoryStore.Speed;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.TableSpec;
import dev.coatcheck.migrate.source.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The inspection of one ordinary table. */
final class Survey {
  private static final Set<String> KEY_TYPES = Set.of("smallint", "integer", "bigint");

  /** Pages that are read for an estimate. */
  private static final long SAMPLE_PAGES = 2_000;

  private static final int PAGE_BYTES = 8_192;
  private static final int KEY_TIME_SHIFT = 22;

  /** A scan of less says nothing about the server. */
  private static final double READ_BYTES_MIN = 1 << 20;

  /** In bytes a second. */
  private static final double READ_USUAL = 300e6;

  private static final double READ_LEAST = 10e6;
  private static final double READ_MOST = 2e9;

  /** That the reckoning takes on the core that the estimates are made for. */
  private static final double RECKONING_NANOS = 12e6;

  private static final double SLOWNESS_LEAST = 0.5;
  private static final double SLOWNESS_MOST = 4;

  private final InventoryStore store;
  private final TableSpec wish;
  private final Inventory.Limits limits;
  private final Server server;
  private final Relation relation;
  private final TableName table;
  private final boolean isGateway;

  Survey(
      InventoryStore store,
      TableSpec wish,
      Inventory.Limits limits,
      Server server,
      Relation relation,
      boolean isGateway) {
    this.store = store;
    this.wish = wish;
    this.limits = limits;
    this.server = server;
    this.relation = relation;
    this.isGateway = isGateway;
    this.table = new TableName(wish.schema(), wish.table());
  }

  /** With the faults that were found before. */
  Inspection inspection(List<Diagnostic> before, StatementStore.Recorded recorded) {
    List<Diagnostic> faults = new ArrayList<>(before);
    for (Check check : Obstacles.of(wish.keepPrimaryKey())) {
      run(check, 0).ifPresent(faults::add);
    }
    if (store.hasCheckpoint(relation.oid())) {
      faults.add(
          new Diagnostic(
              "run_active", "Another run is on the table. Finish, undo or cancel that run."));
    }
    TimeColumns.Choice choice =
        TimeColumns.choose(store.columns(relation.oid()), wish.createdAtColumn());
    Optional<PrimaryKey> key = store.primaryKey(relation.oid());
    keyFault(key).ifPresent(faults::add);
    Optional<Range> range = Optional.empty();
    if (key.isPresent() && keyFault(key).isEmpty() && relation.maySelect()) {
      range = Optional.of(store.range(table, key.get().columns().getFirst()));
      faults.addAll(rangeFaults(range.get()));
    }
    return switch (choice) {
      case TimeColumns.Choice.Refused(Diagnostic finding) -> {
        faults.add(finding);
        yield new Inspection.Refused(List.copyOf(faults));
      }
      case TimeColumns.Choice.Made made ->
          faults.isEmpty() && key.isPresent() && range.isPresent()
              ? new Inspection.Sound(shape(key.get(), range.get(), made, recorded))
              : new Inspection.Refused(List.copyOf(faults));
    };
  }

  private static Optional<Diagnostic> keyFault(Optional<PrimaryKey> key) {
    if (key.isEmpty()) {
      return Optional.of(
          new Diagnostic(
              "no_primary_key",
              "The table has no primary key. Add a primary key on its number first."));
    }
    if (key.get().columns().size() > 1) {
      return Optional.of(
          new Diagnostic(
              "composite_key",
              "The primary key has several columns: "
                  + String.join(", ", key.get().columns())
                  + ". Only a primary key of one number can be migrated."));
    }
    String type = key.get().types().getFirst();
    return KEY_TYPES.contains(type)
        ? Optional.empty()
        : Optional.of(
            new Diagnostic(
                "key_type",
                "The primary key %s has the type %s. Only smallint, integer and bigint can be migrated."
                    .formatted(key.get().columns().getFirst(), type)));
  }

  private List<Diagnostic> rangeFaults(Range range) {
    List<Diagnostic> faults = new ArrayList<>();
    if (range.lowest() <= 0) {
      faults.add(
          new Diagnostic(
              "id_not_positive",
              "The table has a row with the key "
                  + range.lowest()
                  + ", and keys must be 1 or more. Give that row another key."));
    }
    long now = (server.nowMillis() - wish.layoutEpochMillis()) << KEY_TIME_SHIFT;
    if (range.highest() > now / 2) {
      faults.add(
          new Diagnostic(
              "id_too_large",
              "The highest key, %d, is more than half of a new key (%d), which leaves too little room. Check whether the keys already are Snowflakes."
                  .formatted(range.highest(), now)));
    }
    return faults;
  }

  private TableShape shape(
      PrimaryKey key, Range range, TimeColumns.Choice.Made time, StatementStore.Recorded recorded) {
    String column = key.columns().getFirst();
    List<Diagnostic> notes = new ArrayList<>();
    notes.add(time.note());
    Notes.CHECKS.forEach(check -> run(check, key.columnNumber()).ifPresent(notes::add));
    if (!server.seesOthers()) {
      notes.add(
          new Diagnostic(
              "sessions_hidden",
              "The source's user may not see the age of other transactions. Grant it"
                  + " pg_read_all_stats."));
    }
    long beganNano = System.nanoTime();
    Count count = count(time.column(), notes);
    Estimate estimate = estimate(count, System.nanoTime() - beganNano);
    return new TableShape(
        relation.oid(),
        column,
        key.types().getFirst(),
        time.column(),
        range.highest(),
        count.rows(),
        relation.bytes(),
        count.olderThanEpoch(),
        estimate,
        preconditions(key, recorded),
        List.copyOf(notes),
        store.children(relation.oid(), key.columnNumber()));
  }

  private List<Precondition> preconditions(PrimaryKey key, StatementStore.Recorded recorded) {
    Statements statements = new Statements(table, key.columns().getFirst(), key.constraint());
    StatementStore.Recorded searched =
        server.seesOthers() || recorded.whyNot().isPresent()
            ? recorded
            : new StatementStore.Recorded(
                recorded.statements(),
                Optional.of("the source's user sees only its own; grant it pg_read_all_stats"));
    List<Precondition> findings =
        new ArrayList<>(
            new Preconditions(statements, searched, store.functions(relation.oid()))
                .findings(wish.keepPrimaryKey()));
    Preconditions.columnGrants(store.texts(filled(Preconditions.GRANTED_COLUMNS, 0)))
        .ifPresent(findings::add);
    UpdateTrigger.precondition(store.updateTriggers(relation.oid())).ifPresent(findings::add);
    return List.copyOf(findings);
  }

  /** From the sizes, how long the count took and how fast the server reckons. */
  private Estimate estimate(Count count, long countNanos) {
    Speed speed = store.speed(relation.oid());
    double readBytes = relation.heapBytes() * samplePercent() / 100;
    double read = readBytes < READ_BYTES_MIN ? READ_USUAL : readBytes * 1e9 / countNanos;
    return Estimate.of(
        new Estimate.Measure(
            count.rows(),
            relation.heapBytes(),
            speed.indexBytes(),
            speed.indexes(),
            Math.clamp(read, READ_LEAST, READ_MOST),
            Math.clamp(speed.coreNanos() / RECKONING_NANOS, SLOWNESS_LEAST, SLOWNESS_MOST),
            isGateway));
  }

  private double samplePercent() {
    boolean isSmall =
        relation.tuples() < limits.exactRowsMax() && relation.heapBytes() <= limits.exactBytesMax();
    long pages = Math.max(1, relation.heapBytes() / PAGE_BYTES);
    return isSmall ? 100 : Math.min(99, 100.0 * SAMPLE_PAGES / pages);
  }

  /** Exact where that is quick, else by a sample of the pages and what the last analyze saw. */
  private Count count(Optional<Target.TimeColumn> createdAt, List<Diagnostic> notes) {
    double percent = samplePercent();
    Count count = store.count(table, createdAt, wish.layoutEpochMillis(), percent);
    if (percent < 100) {
      notes.add(
          new Diagnostic(
              "rows_estimated", "The table is large, so its rows were estimated and not counted."));
      if (relation.tuples() >= 0) {
        count = new Count(Math.round(relation.tuples()), count.olderThanEpoch());
      }
    }
    if (count.olderThanEpoch() > 0) {
      notes.add(
          new Diagnostic(
              "older_than_epoch",
              count.olderThanEpoch()
                  + " rows were made before the keys' epoch. Their new keys keep the order of the"
                  + " old ones, but not those times."));
    }
    return count;
  }

  private Optional<Diagnostic> run(Check check, int keyColumnNumber) {
    return check.finding(store.texts(filled(check.query(), keyColumnNumber)));
  }

  private String filled(String query, int keyColumnNumber) {
    return query
        .replace("<oid>", Long.toString(relation.oid()))
        .replace("<key>", Integer.toString(keyColumnNumber))
        .replace("<old_seconds>", Long.toString(limits.oldTransactionSeconds()))
        .replace("<freeze_age>", Integer.toString(limits.freezeAgeMax()));
  }
}
