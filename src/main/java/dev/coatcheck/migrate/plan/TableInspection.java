package dev.coatcheck.migrate.plan;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.migrate.plan.SurveyStore.PrimaryKey;
import dev.coatcheck.migrate.plan.SurveyStore.Range;
import dev.coatcheck.migrate.plan.SurveyStore.Relation;
import dev.coatcheck.migrate.plan.SurveyStore.Server;
import dev.coatcheck.migrate.plan.TableSurvey.Outcome;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.TableSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/** One ordinary table under survey: why it can't get new keys, or its shape with all notes. */
final class TableInspection {
  private static final Set<String> KEY_TYPES = Set.of("smallint", "integer", "bigint");

  private final SurveyStore store;
  private final TableSpec spec;
  private final Server server;
  private final Relation relation;
  private final TableName table;
  private final TableSurvey.Limits limits;
  private final LongSupplier nanoTime;

  TableInspection(
      SurveyStore store,
      TableSpec spec,
      Server server,
      Relation relation,
      TableSurvey.Limits limits,
      LongSupplier nanoTime) {
    this.store = store;
    this.spec = spec;
    this.server = server;
    this.relation = relation;
    this.table = new TableName(spec.schema(), spec.table());
    this.limits = limits;
    this.nanoTime = nanoTime;
  }

  /** With the faults that were found before. */
  Outcome outcome(List<Diagnostic> before, RecordedStatements recorded) {
    List<Diagnostic> faults = new ArrayList<>(before);
    for (Check check : Refusals.of(spec.keepPrimaryKey())) {
      run(check, 0).ifPresent(faults::add);
    }
    if (store.hasCheckpoint(relation.oid())) {
      faults.add(
          new Diagnostic(
              "run_active",
              "Another run is on the table. Undo that run, or retire it if it is contracted."));
    }
    TimeColumns.Choice choice =
        TimeColumns.choose(store.columns(relation.oid()), spec.createdAtColumn());
    Optional<PrimaryKey> key = store.primaryKey(relation.oid());
    Optional<Diagnostic> keyFault = keyFault(key);
    keyFault.ifPresent(faults::add);
    Optional<Range> range = Optional.empty();
    if (keyFault.isEmpty()) {
      for (Check check : ChildRefusals.ALL) {
        run(check, key.get().columnNumber()).ifPresent(faults::add);
      }
      if (relation.maySelect()) {
        range = Optional.of(store.range(table, key.get().columns().getFirst()));
        faults.addAll(rangeFaults(range.get()));
      }
    }
    return switch (choice) {
      case TimeColumns.Choice.Refused(Diagnostic diagnostic) -> {
        faults.add(diagnostic);
        yield new Outcome.Refused(List.copyOf(faults));
      }
      case TimeColumns.Choice.Made made ->
          faults.isEmpty() && range.isPresent()
              ? new Outcome.Sound(shape(key.get(), range.get(), made, recorded))
              : new Outcome.Refused(List.copyOf(faults));
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
              "The primary key has several columns: %s. Only a primary key of one number can be migrated."
                  .formatted(String.join(", ", key.get().columns()))));
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
                  + ", and no legacy ID is below 1. The table can be migrated only once that row"
                  + " has another key, in all that refers to the row and in every application"
                  + " that names the key, or is deleted."));
    }
    SnowflakeLayout layout = SnowflakeLayout.DEFAULT;
    long now = layout.key(layout.position(server.nowMillis()), 0);
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
      PrimaryKey key, Range range, TimeColumns.Choice.Made time, RecordedStatements recorded) {
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
    if (!recorded.notAsked().isEmpty()) {
      notes.add(notAsked(recorded.notAsked()));
    }
    TableSize size = store.sizes(limits, nanoTime).measure(relation, table, time.column());
    notes.addAll(Notes.size(size));
    return new TableShape(
        relation.oid(),
        column,
        key.types().getFirst(),
        time.column(),
        range.highest(),
        size,
        preconditions(key, recorded),
        List.copyOf(notes));
  }

  private static Diagnostic notAsked(List<String> statements) {
    return new Diagnostic(
        "statements_not_checked",
        "Whether these recorded statements need the primary key was judged by their words alone,"
            + " because the server could not tell (%d): %s."
                .formatted(statements.size(), String.join("; ", statements)));
  }

  private List<Precondition> preconditions(PrimaryKey key, RecordedStatements recorded) {
    RecordedStatements searched =
        server.seesOthers() ? recorded : recorded.incomplete(RecordedStatements.SEES_OWN);
    String column = key.columns().getFirst();
    List<Precondition> preconditions =
        new ArrayList<>(
            Preconditions.of(
                new Statements(table, column, key.constraint()),
                searched,
                store.appObjects(relation.oid()),
                spec.keepPrimaryKey()));
    if (!key.types().getFirst().equals("bigint")) {
      preconditions.add(Preconditions.typeStays(column, key.types().getFirst()));
    }
    List<Child> children = store.children(relation.oid(), key.columnNumber());
    for (Child child : children) {
      if (child.oid() != relation.oid()) {
        preconditions =
            Preconditions.with(
                preconditions,
                new Statements(child.table(), child.column(), ""),
                searched,
                store.appObjects(child.oid()));
      }
    }
    return Stream.of(
            preconditions.stream(),
            store.childCode(children).stream(),
            store.orphans(relation.oid(), table, key, children).stream())
        .flatMap(some -> some)
        .toList();
  }

  private Optional<Diagnostic> run(Check check, int keyColumnNumber) {
    return check.diagnostic(store.texts(filled(check.query(), keyColumnNumber)));
  }

  private String filled(String query, int keyColumnNumber) {
    return query
        .replace("<oid>", Long.toString(relation.oid()))
        .replace("<key>", Integer.toString(keyColumnNumber))
        .replace("<old_seconds>", Long.toString(limits.oldTransactionSeconds()))
        .replace("<freeze_age>", Integer.toString(limits.freezeAgeMax()));
  }
}
