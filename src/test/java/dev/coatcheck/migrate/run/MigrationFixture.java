package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.bulk.load.LegacyKeyTable;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.Legacy;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.backfill.ArchiveTable;
import dev.coatcheck.migrate.backfill.Backfill;
import dev.coatcheck.migrate.backfill.Checkpoint;
import dev.coatcheck.migrate.file.FileImports;
import dev.coatcheck.migrate.journal.ActionOutcome;
import dev.coatcheck.migrate.journal.Asked;
import dev.coatcheck.migrate.journal.PlanOutcome;
import dev.coatcheck.migrate.plan.PlanRequest;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.source.CatalogTable;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.SourceSession;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.source.TableName;
import dev.coatcheck.migrate.source.TableSpec;
import dev.coatcheck.migrate.source.Target;
import dev.coatcheck.migrate.source.UnfencedSession;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.SwitchWindow;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Ddl;
import dev.coatcheck.migrate.steps.Outbox;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.migrate.steps.Step;
import dev.coatcheck.migrate.steps.StepOutcome;
import dev.coatcheck.migrate.steps.Steps;
import dev.coatcheck.migrate.throttle.ThrottleSettings;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.session.Patience;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Table migrations of a gateway on one source, beside the mappings or apart from them. Steps are
 * applied by hand until a test asks for {@link #migrations}, which starts the runners. As an
 * extension in a field it closes after each test, or after the class if the field is static.
 */
public final class MigrationFixture
    implements AutoCloseable, BeforeAllCallback, AfterEachCallback, AfterAllCallback {
  public static final String ACTOR = "tester";
  static final String OTHER = "shop";
  private static final int STATEMENT_MILLIS_MAX = 20_000;

  public final MappingFixture gateway = new MappingFixture();
  public final Type type = gateway.type("order", "ord", KeyScheme.SNOWFLAKE);
  public final LegacyKeyTable mappings =
      new LegacyKeyTable(type, MappingFixture.TOKENS, gateway.observer);
  public final TestDatabase sourceDatabase;
  public final DatabaseSettings settings;
  public final Database source;
  private final boolean isBeside;
  private final Patience patienceWithNetwork;
  private @Nullable Sources sources;
  private @Nullable TableMigrations migrations;
  private boolean isOfClass;

  /** How long a state may be waited for. */
  public Duration patience = Duration.ofMinutes(3);

  private MigrationFixture(Optional<TestDatabase> elsewhere, Patience patienceWithNetwork) {
    this.isBeside = elsewhere.isEmpty();
    this.sourceDatabase = elsewhere.orElse(gateway.on);
    this.settings = sourceDatabase.settings(4);
    this.source = Database.openPinned(settings, "source", gateway.observer);
    this.patienceWithNetwork = patienceWithNetwork;
  }

  /** With the source in the database of the mappings. */
  public static MigrationFixture beside() {
    return new MigrationFixture(Optional.empty(), Patience.DEFAULT);
  }

  /** With the source in a database of its own. */
  public static MigrationFixture apart() {
    return on(TestDatabase.empty());
  }

  public static MigrationFixture of(boolean isBeside) {
    return isBeside ? beside() : apart();
  }

  /** With a source somewhere else. */
  public static MigrationFixture on(TestDatabase elsewhere) {
    return on(elsewhere, Patience.DEFAULT);
  }

  /** With a source somewhere else, and another patience with its network. */
  public static MigrationFixture on(TestDatabase elsewhere, Patience patience) {
    return new MigrationFixture(Optional.of(elsewhere), patience);
  }

  /** One that takes orders and does no work: that is left to gateways in processes of their own. */
  public static MigrationFixture desk() {
    MigrationFixture desk = beside();
    desk.migrations().close();
    return desk;
  }

  /** The first call starts the runners. */
  public TableMigrations migrations() {
    if (migrations == null) {
      migrations = start("one");
    }
    return migrations;
  }

  Sources sources() {
    if (sources == null) {
      sources =
          Sources.open(
              gatewaySettings(),
              isBeside ? Map.of() : Map.of(OTHER, settings),
              gateway.observer,
              patienceWithNetwork);
    }
    return sources;
  }

  /** A further instance on the same databases. */
  TableMigrations start(String holder) {
    return start(sources(), holder);
  }

  /** An instance of a gateway. */
  public TableMigrations start(Sources sources, String holder) {
    return TableMigrations.start(
        gatewayMappings(), sources, gateway.feed, holder, System::nanoTime);
  }

  public FileImports files() {
    return new FileImports(gatewayMappings(), migrations());
  }

  GatewayMappings gatewayMappings() {
    return new GatewayMappings(
        gateway.database, gateway.registry, MappingFixture.TOKENS, gateway.observer);
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

  /** So many rows, one a second, the last a moment ago. */
  public void orders(int rows) {
    execute(
        "create table orders (id bigserial primary key, created_at timestamptz default now())",
        "insert into orders (created_at) select now() - make_interval(secs => 100 + %1$d - n)"
                .formatted(rows)
            + " from generate_series(1, %d) n".formatted(rows));
  }

  /** Changes its throttle settings from the start on. */
  public TableMigration startWith(UnaryOperator<ThrottleSettings> change) {
    TableMigration planned = plan("orders", Optional.of("created_at"));
    set(planned, change);
    start(planned);
    return planned;
  }

  public void set(TableMigration run, UnaryOperator<ThrottleSettings> change) {
    done(migrations().set(run.id(), change, Asked.by(ACTOR)));
  }

  /** Waits for a reason that begins so. */
  public void awaitReason(TableMigration run, String start) {
    await(() -> now(run).status().reason().filter(why -> why.startsWith(start)).isPresent());
  }

  public void await(Callable<Boolean> condition) {
    Awaitility.await().atMost(patience).pollInterval(Duration.ofMillis(20)).until(condition);
  }

  /** Until no runner is connected to the source. */
  public void awaitNoRunner() {
    await(
        () ->
            count(
                    "select count(*) from pg_stat_activity"
                        + " where application_name like 'coatcheck run %'"
                        + " and datname = current_database()")
                == 0);
  }

  public boolean saw(TableMigration run, String kind, String detail) {
    return migrations().journal().events(run.id(), 0).stream()
        .anyMatch(event -> event.kind().equals(kind) && event.detail().contains(detail));
  }

  /** Every row has one key, and those of the backfill are in order. */
  public void requireOrderedKeys() {
    assertThat(column("select id from orders where snowflake_id is null")).isEmpty();
    assertThat(column("select snowflake_id from orders group by snowflake_id having count(*) > 1"))
        .isEmpty();
    assertThat(
            column(
                """
                select id from (
                  select id, snowflake_id <= lag(snowflake_id) over (order by id) as wrong
                    from orders where (snowflake_id >> 12) & 1023 = 1022) as o
                 where wrong
                """))
        .isEmpty();
  }

  public static ThrottleSettings rate(ThrottleSettings throttleSettings, int rowsPerSecondMax) {
    return new ThrottleSettings(
        throttleSettings.batchMillis(),
        rowsPerSecondMax,
        throttleSettings.walMegabytesPerSecondMax(),
        throttleSettings.replicaLagSecondsMax(),
        throttleSettings.slotMegabytesMax(),
        throttleSettings.lockWaitsMax(),
        throttleSettings.longTransactionSecondsMax(),
        throttleSettings.latencyMillisMax(),
        throttleSettings.vacuumSecondsMax(),
        throttleSettings.archiveFailures());
  }

  public TableMigration plan(String table, Optional<String> createdAt) {
    return plan("public", table, createdAt);
  }

  public TableMigration plan(String table, Type type, Optional<String> createdAt) {
    return plan(planned("public", table, type, createdAt));
  }

  public TableMigration plan(String schema, String table, Optional<String> createdAt) {
    return plan(planned(schema, table, type, createdAt));
  }

  private static TableMigration plan(PlanOutcome outcome) {
    if (outcome instanceof PlanOutcome.Planned(TableMigration.Whole whole)) {
      return whole.run();
    }
    throw new AssertionError(outcome);
  }

  /** All that stands in the way of a table. */
  public List<Diagnostic> refused(String table) {
    PlanOutcome outcome = planned("public", table, type, Optional.empty());
    if (outcome instanceof PlanOutcome.Refused(List<Diagnostic> findings)) {
      return findings;
    }
    throw new AssertionError(outcome);
  }

  private PlanOutcome planned(String schema, String table, Type type, Optional<String> createdAt) {
    IdempotentResult<PlanOutcome> result =
        migrations()
            .plan(
                new PlanRequest(
                    isBeside ? Sources.GATEWAY : OTHER,
                    new TableSpec(schema, table, createdAt, false),
                    type,
                    Optional.empty()),
                Asked.by(ACTOR));
    if (result instanceof IdempotentResult.Unkeyed<PlanOutcome>(PlanOutcome outcome)) {
      return outcome;
    }
    throw new AssertionError(result);
  }

  /** With another search path of the application. */
  TableMigration plan(String schema, String table, SearchPath path) {
    IdempotentResult<PlanOutcome> result =
        migrations()
            .plan(
                new PlanRequest(
                    isBeside ? Sources.GATEWAY : OTHER,
                    new TableSpec(schema, table, Optional.empty(), false),
                    type,
                    Optional.of(path)),
                Asked.by(ACTOR));
    if (result
        instanceof
        IdempotentResult.Unkeyed<PlanOutcome>(PlanOutcome.Planned(TableMigration.Whole whole))) {
      return whole.run();
    }
    throw new AssertionError(result);
  }

  /** What a start says that isn't possible. */
  List<Diagnostic> refused(TableMigration run) {
    IdempotentResult<ActionOutcome> result =
        migrations()
            .start(
                run.id(),
                run.plan().preconditions().stream().map(one -> one.code()).toList(),
                Asked.by(ACTOR));
    if (result
        instanceof
        IdempotentResult.Unkeyed<ActionOutcome>(ActionOutcome.Refused(List<Diagnostic> findings))) {
      return findings;
    }
    throw new AssertionError(result);
  }

  /** Accepts whatever it has to. */
  public void start(TableMigration run) {
    done(
        migrations()
            .start(
                run.id(),
                run.plan().preconditions().stream().map(one -> one.code()).toList(),
                Asked.by(ACTOR)));
  }

  public TableMigration run(TableMigration planned) {
    start(planned);
    return await(planned, RunState.DONE);
  }

  /** Undoes a phase and waits until that is done. */
  public void undo(TableMigration run, Phase phase) {
    done(migrations().undo(run.id(), phase, Asked.by(ACTOR)));
    RunState last = phase.isUsual() ? RunState.PAUSED : RunState.DONE;
    await(run, phase == Phase.EXPAND ? RunState.CANCELLED : last);
  }

  /** Moves the primary key and waits until that is done. */
  public TableMigration switchKey(TableMigration run) {
    done(migrations().switchWithin(run.id(), SwitchWindow.ANY_TIME, Asked.by(ACTOR)));
    return await(run, RunState.DONE);
  }

  /** Takes the legacy IDs off the table, whatever uses them. */
  public TableMigration contract(TableMigration run) {
    done(contract(run, List.of("old_column", "row_shape")));
    return await(run, RunState.CONTRACTED);
  }

  public IdempotentResult<ActionOutcome> contract(TableMigration run, List<String> accepted) {
    return migrations().contract(run.id(), accepted, Asked.by(ACTOR));
  }

  public TableMigration await(TableMigration run, RunState state) {
    Awaitility.await()
        .atMost(patience)
        .pollInterval(Duration.ofMillis(100))
        .until(
            () -> {
              TableMigration.Status now = now(run).status();
              if (now.state() == RunState.FAILED && state != RunState.FAILED) {
                retryAfterLocks(run, now.reason().orElse(""));
              }
              return now.state() == state;
            });
    return now(run);
  }

  /** As an operator does: on a busy machine the tries for a lock may be over before it is free. */
  private void retryAfterLocks(TableMigration run, String reason) {
    if (!reason.contains(" did not get its lock in ")) {
      throw new AssertionError(reason);
    }
    done(migrations().retry(run.id(), Asked.by(ACTOR)));
  }

  /** Looks a legacy ID up; asks again when there was no time for it, as a client does after 503. */
  public static ResolveOutcome find(Legacy legacy, Type type, long id) {
    return Awaitility.await()
        .pollDelay(Duration.ZERO)
        .ignoreException(DatabaseUnavailable.class)
        .until(() -> legacy.lookup().find(type, id), _ -> true);
  }

  public TableMigration now(TableMigration run) {
    return migrations().journal().find(run.id()).orElseThrow();
  }

  public static TableMigration done(IdempotentResult<ActionOutcome> result) {
    if (result
        instanceof
        IdempotentResult.Unkeyed<ActionOutcome>(ActionOutcome.Done(TableMigration.Whole whole))) {
      return whole.run();
    }
    throw new AssertionError(result);
  }

  /** Takes the table and all that is known of it away, for another one on the same databases. */
  public void clear() {
    execute(
        "drop table if exists public.orders cascade",
        "drop schema if exists coatcheck_migration cascade");
    gateway.on.sql().execute("truncate coatcheck.alias, coatcheck.public_id cascade");
  }

  @Override
  public void beforeAll(ExtensionContext testClass) {
    isOfClass = true;
  }

  @Override
  public void afterEach(ExtensionContext test) {
    if (!isOfClass) {
      close();
    }
  }

  @Override
  public void afterAll(ExtensionContext testClass) {
    close();
  }

  @Override
  public void close() {
    if (migrations != null) {
      migrations.close();
    }
    if (sources != null) {
      sources.close();
    }
    source.close();
    gateway.close();
  }
}
