package dev.coatcheck.migrate.steps;

import dev.coatcheck.bulk.load.LegacyKeyTable;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.backfill.ArchiveTable;
import dev.coatcheck.migrate.backfill.Backfill;
import dev.coatcheck.migrate.backfill.Checkpoint;
import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.UnfencedSession;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Takes a table through the steps by hand, beside the mappings or in a database of its own. */
public final class RekeyFixture implements AutoCloseable {
  private static final int STATEMENT_MILLIS_MAX = 20_000;

  public final MappingFixture gateway = new MappingFixture();
  public final Type type = gateway.type("order", "ord", KeyScheme.SNOWFLAKE);
  public final LegacyKeyTable mappings =
      new LegacyKeyTable(type, MappingFixture.TOKENS, gateway.observer);
  public final TestDatabase sourceDatabase;
  public final DatabaseSettings settings;
  public final Database source;
  private final boolean isBeside;

  public RekeyFixture(boolean isBeside) {
    this(isBeside, Optional.empty());
  }

  /** With a source somewhere else. */
  public RekeyFixture(TestDatabase elsewhere) {
    this(false, Optional.of(elsewhere));
  }

  private RekeyFixture(boolean isBeside, Optional<TestDatabase> elsewhere) {
    this.isBeside = isBeside;
    this.sourceDatabase = elsewhere.orElseGet(() -> isBeside ? gateway.on : TestDatabase.empty());
    this.settings = sourceDatabase.settings(4);
    this.source = Database.openPinned(settings, "source", gateway.observer);
  }

  public DatabaseSettings gatewaySettings() {
    return gateway.on.settings(4);
  }

  /** The table {@code public.orders} as it is now. */
  public Target target(Optional<Target.TimeColumn> createdAt) {
    return target(new TableName("public", "orders"), "id", createdAt);
  }

  public Target target(TableName table, String key, Optional<Target.TimeColumn> createdAt) {
    long oid = count("select " + TableName.literal(table.quoted()) + "::regclass::oid");
    return new Target(
        UUID.randomUUID(),
        table,
        oid,
        key,
        "bigint",
        createdAt,
        CatalogTable.anchors(source, oid, key, createdAt),
        CatalogTable.ownersPath(source, settings, oid),
        List.of());
  }

  public static Optional<Target.TimeColumn> createdAt() {
    return Optional.of(new Target.TimeColumn("created_at", "timestamptz"));
  }

  /** Applies every step of a phase. */
  public void apply(Target target, Phase... phases) {
    try (SourceSession session = UnfencedSession.open(settings, target)) {
      for (Phase phase : phases) {
        Steps.of(target).stream()
            .filter(step -> step.phase() == phase)
            .forEach(step -> apply(session, target, step));
      }
    }
  }

  /** Undoes every step of a phase, the last one first. */
  public void undo(Target target, Phase... phases) {
    try (SourceSession session = UnfencedSession.open(settings, target)) {
      for (Phase phase : phases) {
        Steps.of(target).reversed().stream()
            .filter(step -> step.phase() == phase)
            .forEach(step -> undo(session, target, step));
      }
    }
  }

  private void apply(SourceSession session, Target target, Step step) {
    Ddl ddl = ddl(session, target);
    switch (step) {
      case Step.Ddl change -> {
        if (!ddl.isApplied(change)) {
          requireDone(ddl.apply(change));
        }
      }
      case Step.Index index -> ddl.build(index);
      case Step.NotNullCheck filled -> requireDone(ddl.apply(filled, Optional::empty));
      case Step.Spare spare -> ddl.build(spare.index());
      case Step.Validate validate -> requireDone(ddl.apply(validate));
      case Step.Merge merge -> requireDone(ddl.apply(merge));
      case Step.Fill rows -> {
        if (rows.child().isEmpty()) {
          fill(session, target, 512);
        }
      }
      case Step.Archive _, Step.Verify _ -> {}
    }
  }

  private void undo(SourceSession session, Target target, Step step) {
    Ddl ddl = ddl(session, target);
    switch (step) {
      case Step.Ddl change -> requireDone(ddl.undo(change));
      case Step.Index index -> requireDone(ddl.drop(index));
      case Step.Spare spare -> requireDone(ddl.undo(spare));
      case Step.Validate validate -> requireDone(ddl.apply(validate));
      case Step.Merge merge -> requireDone(ddl.apply(merge));
      case Step.NotNullCheck filled -> requireDone(ddl.undo(filled));
      case Step.Archive archive -> {
        requireDone(ddl.begin(archive));
        new ArchiveTable(session, target).run(() -> true);
      }
      case Step.Fill _, Step.Verify _ -> {}
    }
  }

  /** The whole backfill, in batches of so many rows. */
  public void fill(SourceSession session, Target target, int rows) {
    Backfill backfill =
        new Backfill(session, target, isBeside ? Optional.of(mappings) : Optional.empty());
    for (Checkpoint at = backfill.checkpoint(); !at.isAtEnd(); at = backfill.checkpoint()) {
      Backfill.Range range = new Backfill.Range(at.lastId(), at.highId(), at.lastPosition());
      Backfill.Outcome outcome = backfill.fill(range, rows, 0, STATEMENT_MILLIS_MAX);
      if (!(outcome instanceof Backfill.Outcome.Filled)) {
        throw new AssertionError(outcome);
      }
    }
  }

  public Outbox outbox(Target target) {
    return new Outbox(source, gateway.database, isBeside, target, mappings);
  }

  /** Brings all entries; returns how many there were. */
  public int drain(Target target) {
    Outbox outbox = outbox(target);
    int entries = 0;
    for (Outbox.Drained some = outbox.drain(); some.entries() > 0; some = outbox.drain()) {
      entries += some.entries();
    }
    return entries;
  }

  private static Ddl ddl(SourceSession session, Target target) {
    return new Ddl(
        session,
        target,
        millis -> {
          try {
            Thread.sleep(millis);
          } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
          }
        });
  }

  private static void requireDone(StepOutcome outcome) {
    if (!(outcome instanceof StepOutcome.Done)) {
      throw new AssertionError(outcome);
    }
  }

  /** Statements of the application, on the source. */
  public TestSql sql() {
    return sourceDatabase.sql().inPublic();
  }

  public Connection connect() throws SQLException {
    return sql().connect();
  }

  public void execute(String... statements) {
    sql().execute(statements);
  }

  public long count(String query) {
    return sql().number(query);
  }

  /** The first column, as numbers. */
  public List<Long> column(String query) {
    return sql().numbers(query);
  }

  /** The first column. */
  public List<String> texts(String query) {
    return sql().texts(query);
  }

  @Override
  public void close() {
    source.close();
    gateway.close();
  }
}
