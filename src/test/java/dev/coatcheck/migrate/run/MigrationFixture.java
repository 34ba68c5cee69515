package dev.coatcheck.migrate.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.Legacy;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.file.FileImports;
import dev.coatcheck.migrate.journal.ActionOutcome;
import dev.coatcheck.migrate.journal.Asked;
import dev.coatcheck.migrate.journal.PlanOutcome;
import dev.coatcheck.migrate.plan.PlanRequest;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.source.TableSpec;
import dev.coatcheck.migrate.state.RunState;
import dev.coatcheck.migrate.state.SwitchWindow;
import dev.coatcheck.migrate.state.TableMigration;
import dev.coatcheck.migrate.steps.Phase;
import dev.coatcheck.migrate.steps.RekeyFixture;
import dev.coatcheck.migrate.throttle.ThrottleSettings;
import dev.coatcheck.postgres.session.Patience;
import dev.coatcheck.postgres.sql.DatabaseUnavailable;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;

/** A gateway's table migrations on one source, beside the mappings or in another database. */
public final class MigrationFixture implements AutoCloseable {
  public static final String ACTOR = "tester";
  static final String OTHER = "shop";

  public final RekeyFixture source;
  public final TableMigrations migrations;
  final Sources sources;
  private final boolean isBeside;

  /** How long a state may be waited for. */
  public Duration patience = Duration.ofMinutes(3);

  public MigrationFixture(boolean isBeside) {
    this(isBeside, new RekeyFixture(isBeside), Patience.DEFAULT);
  }

  /** One that takes orders and does no work: that is left to gateways in processes of their own. */
  public static MigrationFixture desk() {
    MigrationFixture desk = new MigrationFixture(true);
    desk.migrations.close();
    return desk;
  }

  /** With a source somewhere else. */
  public MigrationFixture(TestDatabase elsewhere) {
    this(elsewhere, Patience.DEFAULT);
  }

  /** With a source somewhere else, and another patience with its network. */
  public MigrationFixture(TestDatabase elsewhere, Patience patience) {
    this(false, new RekeyFixture(elsewhere), patience);
  }

  private MigrationFixture(boolean isBeside, RekeyFixture source, Patience patienceWithNetwork) {
    this.isBeside = isBeside;
    this.source = source;
    this.sources =
        Sources.open(
            isBeside ? source.settings : source.gatewaySettings(),
            isBeside ? Map.of() : Map.of(OTHER, source.settings),
            source.gateway.observer,
            patienceWithNetwork);
    this.migrations = start("one");
  }

  /** A further instance on the same databases. */
  TableMigrations start(String holder) {
    return start(source, sources, holder);
  }

  /** An instance of a gateway. */
  public static TableMigrations start(RekeyFixture source, Sources sources, String holder) {
    return TableMigrations.start(
        mappings(source), sources, source.gateway.feed, holder, System::nanoTime);
  }

  public FileImports files() {
    return new FileImports(mappings(source), migrations);
  }

  static GatewayMappings mappings(RekeyFixture source) {
    return new GatewayMappings(
        source.gateway.database,
        source.gateway.registry,
        MappingFixture.TOKENS,
        source.gateway.observer);
  }

  /** So many rows, one a second, the last a moment ago. */
  public void orders(int rows) {
    source.execute(
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
    done(migrations.set(run.id(), change, Asked.by(ACTOR)));
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
            source.count(
                    "select count(*) from pg_stat_activity"
                        + " where application_name like 'coatcheck run %'"
                        + " and datname = current_database()")
                == 0);
  }

  public boolean saw(TableMigration run, String kind, String detail) {
    return migrations.journal().events(run.id(), 0).stream()
        .anyMatch(event -> event.kind().equals(kind) && event.detail().contains(detail));
  }

  /** Every row has one key, and those of the backfill are in order. */
  public void requireOrderedKeys() {
    assertThat(source.column("select id from orders where snowflake_id is null")).isEmpty();
    assertThat(
            source.column(
                "select snowflake_id from orders group by snowflake_id having count(*) > 1"))
        .isEmpty();
    assertThat(
            source.column(
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
    return plan(planned(schema, table, source.type, createdAt));
  }

  private static TableMigration plan(PlanOutcome outcome) {
    if (outcome instanceof PlanOutcome.Planned(TableMigration.Whole whole)) {
      return whole.run();
    }
    throw new AssertionError(outcome);
  }

  /** All that stands in the way of a table. */
  public List<Diagnostic> refused(String table) {
    PlanOutcome outcome = planned("public", table, source.type, Optional.empty());
    if (outcome instanceof PlanOutcome.Refused(List<Diagnostic> findings)) {
      return findings;
    }
    throw new AssertionError(outcome);
  }

  private PlanOutcome planned(String schema, String table, Type type, Optional<String> createdAt) {
    IdempotentResult<PlanOutcome> result =
        migrations.plan(
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
        migrations.plan(
            new PlanRequest(
                isBeside ? Sources.GATEWAY : OTHER,
                new TableSpec(schema, table, Optional.empty(), false),
                source.type,
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
        migrations.start(
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
        migrations.start(
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
    done(migrations.undo(run.id(), phase, Asked.by(ACTOR)));
    RunState last = phase.isUsual() ? RunState.PAUSED : RunState.DONE;
    await(run, phase == Phase.EXPAND ? RunState.CANCELLED : last);
  }

  /** Moves the primary key and waits until that is done. */
  public TableMigration switchKey(TableMigration run) {
    done(migrations.switchWithin(run.id(), SwitchWindow.ANY_TIME, Asked.by(ACTOR)));
    return await(run, RunState.DONE);
  }

  /** Takes the legacy IDs off the table, whatever uses them. */
  public TableMigration contract(TableMigration run) {
    done(contract(run, List.of("old_column", "row_shape")));
    return await(run, RunState.CONTRACTED);
  }

  public IdempotentResult<ActionOutcome> contract(TableMigration run, List<String> accepted) {
    return migrations.contract(run.id(), accepted, Asked.by(ACTOR));
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
    done(migrations.retry(run.id(), Asked.by(ACTOR)));
  }

  /** Looks a legacy ID up; asks again when there was no time for it, as a client does after 503. */
  public static ResolveOutcome find(Legacy legacy, Type type, long id) {
    return Awaitility.await()
        .pollDelay(Duration.ZERO)
        .ignoreException(DatabaseUnavailable.class)
        .until(() -> legacy.lookup().find(type, id), _ -> true);
  }

  public TableMigration now(TableMigration run) {
    return migrations.journal().find(run.id()).orElseThrow();
  }

  public static TableMigration done(IdempotentResult<ActionOutcome> result) {
    if (result
        instanceof
        IdempotentResult.Unkeyed<ActionOutcome>(ActionOutcome.Done(TableMigration.Whole whole))) {
      return whole.run();
    }
    throw new AssertionError(result);
  }

  @Override
  public void close() {
    migrations.close();
    sources.close();
    source.close();
  }
}
