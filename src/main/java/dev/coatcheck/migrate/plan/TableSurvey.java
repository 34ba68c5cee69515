package dev.coatcheck.migrate.plan;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.migrate.plan.SurveyStore.PrimaryKey;
import dev.coatcheck.migrate.plan.SurveyStore.Range;
import dev.coatcheck.migrate.plan.SurveyStore.Relation;
import dev.coatcheck.migrate.plan.SurveyStore.Server;
import dev.coatcheck.migrate.source.Child;
import dev.coatcheck.migrate.source.ChildTable;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.ObjectNames;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.TableSpec;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Looks at a table before anything is done to it: what it is made of, what its applications have to
 * be ready for, and whether anything stands in the way. Changes nothing: it reads in a transaction
 * that can't write, and what it asks about recorded statements is rolled back.
 */
public final class TableSurvey {
  public sealed interface Outcome {
    record Sound(TableShape shape) implements Outcome {}

    /** All that stands in the way. */
    record Refused(List<Diagnostic> diagnostics) implements Outcome {}
  }

  /** Postgres cuts a longer name without a word, and may then mean another table. */
  private static final int NAME_BYTES_MAX = 63;

  private static final Set<String> KEY_TYPES = Set.of("smallint", "integer", "bigint");

  private static final Set<String> OWN_SCHEMAS = Set.of("coatcheck", ObjectNames.SCHEMA);

  private static final Diagnostic READ_ONLY =
      new Diagnostic(
          "read_only_user",
          "Transactions of the source's user only read, because default_transaction_read_only is"
              + " on. Run alter role … set default_transaction_read_only = off for that user, or"
              + " use another user.");

  private static final Diagnostic POOLED =
      new Diagnostic(
          "pooled_connection",
          "This source is behind a pooler that shares its backends between transactions or drops"
              + " session settings; a run needs its own sessions. Register the source with a URL"
              + " that leads to Postgres itself, without currentSchema and options. For the"
              + " gateway's own database, register the same database as another source.");

  private final Limits limits;
  private final LongSupplier nanoTime;

  /**
   * From when on a table is large, and a transaction old.
   *
   * @param exactRowsMax and {@code exactBytesMax}: above either, rows are estimated
   * @param freezeAgeMax beside the server's own: vacuums of older tables are against wraparound
   */
  record Limits(
      long exactRowsMax, long exactBytesMax, long oldTransactionSeconds, int freezeAgeMax) {
    static final Limits USUAL = new Limits(2_000_000, 512L << 20, 3_600, Integer.MAX_VALUE);
  }

  public TableSurvey(LongSupplier nanoTime) {
    this(Limits.USUAL, nanoTime);
  }

  TableSurvey(Limits limits, LongSupplier nanoTime) {
    this.limits = limits;
    this.nanoTime = nanoTime;
  }

  /**
   * Says whether the table can get new keys, with everything that stands in the way.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if the source doesn't answer, or the
   *     table is locked for longer than a second
   */
  public Outcome inspect(Source source, TableSpec spec) {
    List<Diagnostic> misnamed = misnamed(spec);
    if (!misnamed.isEmpty()) {
      return new Outcome.Refused(misnamed);
    }
    if (PoolerStore.isBetween(source.settings())) {
      return new Outcome.Refused(List.of(POOLED));
    }
    if (PoolerStore.isReadOnly(source.settings())) {
      return new Outcome.Refused(List.of(READ_ONLY));
    }
    List<String> tables =
        Stream.concat(
                Stream.of(spec.table()),
                ChildTable.tables(source.database(), spec.schema(), spec.table()).stream())
            .distinct()
            .toList();
    RecordedStatements recorded = recorded(source, spec, tables);
    return SurveyStore.reading(source.database(), store -> inspection(store, spec, recorded));
  }

  private RecordedStatements recorded(Source source, TableSpec spec, List<String> tables) {
    RecordedStatements recorded = StatementTable.recorded(source, tables);
    return spec.keepPrimaryKey()
        ? recorded
        : KeyNeedTable.asked(
            source.database(), new TableName(spec.schema(), spec.table()), recorded, nanoTime);
  }

  private Outcome inspection(SurveyStore store, TableSpec spec, RecordedStatements recorded) {
    Server server = store.server();
    List<Diagnostic> faults = new ArrayList<>(serverFaults(server));
    if (server.version() < 15) {
      return new Outcome.Refused(faults);
    }
    Optional<Relation> found = store.relation(spec.schema(), spec.table());
    Optional<Diagnostic> noTable =
        found.isEmpty()
            ? Optional.of(unknown(spec, store.alike(spec.table())))
            : notATable(found.get().kind());
    if (noTable.isPresent()) {
      faults.add(noTable.get());
      return new Outcome.Refused(faults);
    }
    return new OneTable(store, spec, server, found.get()).inspection(faults, recorded);
  }

  /** What is refused before anybody is asked. */
  private static List<Diagnostic> misnamed(TableSpec spec) {
    List<Diagnostic> diagnostics = new ArrayList<>();
    tooLong("schema", spec.schema()).ifPresent(diagnostics::add);
    tooLong("table", spec.table()).ifPresent(diagnostics::add);
    spec.createdAtColumn().flatMap(name -> tooLong("column", name)).ifPresent(diagnostics::add);
    if (spec.schema().startsWith("pg_temp")) {
      diagnostics.add(
          new Diagnostic("temporary_table", "The table is temporary: it ends with its session."));
    } else if (spec.schema().startsWith("pg_") || spec.schema().equals("information_schema")) {
      diagnostics.add(
          new Diagnostic("system_table", "The schema belongs to Postgres; name a table of yours."));
    } else if (OWN_SCHEMAS.contains(spec.schema())) {
      diagnostics.add(
          new Diagnostic("own_table", "The schema belongs to the gateway; name a table of yours."));
    }
    if (diagnostics.isEmpty()
        && (spec.schema() + spec.table() + spec.createdAtColumn().orElse("")).indexOf('\0') >= 0) {
      diagnostics.add(
          new Diagnostic("table_unknown", "A name has a NUL, which no name of Postgres has."));
    }
    return diagnostics;
  }

  private static Optional<Diagnostic> tooLong(String what, String name) {
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    return bytes <= NAME_BYTES_MAX
        ? Optional.empty()
        : Optional.of(
            new Diagnostic(
                "name_too_long",
                "The name of the %s has %d bytes, and Postgres knows only the first %d: give it as the catalog has it."
                    .formatted(what, bytes, NAME_BYTES_MAX)));
  }

  /** Why a relation can't get new keys; empty for an ordinary table. */
  private static Optional<Diagnostic> notATable(String relkind) {
    return switch (relkind) {
      case "r" -> Optional.empty();
      case "p" ->
          refused(
              "partitioned_table",
              "The table is partitioned. Partitioned tables can't be migrated yet.");
      case "v" -> refused("view", "The relation is a view. Name the table beneath it.");
      case "m" ->
          refused(
              "materialized_view",
              "The relation is a materialized view. Name the table beneath it.");
      case "f" ->
          refused(
              "foreign_table", "The rows are on another server. Register that server as a source.");
      case "S" -> refused("sequence", "The relation is a sequence. Name the table that uses it.");
      default -> refused("not_a_table", "The relation is not a table.");
    };
  }

  private static Optional<Diagnostic> refused(String code, String detail) {
    return Optional.of(new Diagnostic(code, detail));
  }

  private static Diagnostic unknown(TableSpec spec, List<String> alike) {
    return new Diagnostic(
        "table_unknown",
        "The schema %s has no table %s; names are compared letter by letter, without quotes."
                .formatted(spec.schema(), spec.table())
            + (alike.isEmpty() ? "" : " There is " + String.join(", ", alike) + "."));
  }

  private static List<Diagnostic> serverFaults(Server server) {
    List<Diagnostic> faults = new ArrayList<>();
    if (server.version() < 15) {
      faults.add(
          new Diagnostic(
              "server_too_old",
              "The source is PostgreSQL %s, and 15 is the oldest supported."
                  .formatted(server.version())));
    }
    if (server.isInRecovery()) {
      faults.add(
          new Diagnostic("server_in_recovery", "The source is a standby; name the primary."));
    }
    if (!server.losesCommitsBy().isEmpty()) {
      faults.add(
          new Diagnostic(
              "server_loses_commits",
              "The source may lose committed data, because this setting is off: %s. Turn it on."
                  .formatted(String.join(", ", server.losesCommitsBy()))));
    }
    return faults;
  }

  /** One ordinary table. */
  private final class OneTable {
    private final SurveyStore store;
    private final TableSpec spec;
    private final Server server;
    private final Relation relation;
    private final TableName table;

    OneTable(SurveyStore store, TableSpec spec, Server server, Relation relation) {
      this.store = store;
      this.spec = spec;
      this.server = server;
      this.relation = relation;
      this.table = new TableName(spec.schema(), spec.table());
    }

    /** With the faults that were found before. */
    Outcome inspection(List<Diagnostic> before, RecordedStatements recorded) {
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
}
