package dev.coatcheck.migrate.plan;

import dev.coatcheck.migrate.plan.SurveyStore.Relation;
import dev.coatcheck.migrate.plan.SurveyStore.Server;
import dev.coatcheck.migrate.source.ChildTable;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.ObjectNames;
import dev.coatcheck.migrate.source.Source;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.TableSpec;
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
    return new TableInspection(store, spec, server, found.get(), limits, nanoTime)
        .outcome(faults, recorded);
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
    int bytes = ObjectNames.bytes(name);
    return bytes <= ObjectNames.BYTES_MAX
        ? Optional.empty()
        : Optional.of(
            new Diagnostic(
                "name_too_long",
                "The name of the %s has %d bytes, and Postgres knows only the first %d: give it as the catalog has it."
                    .formatted(what, bytes, ObjectNames.BYTES_MAX)));
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
}
