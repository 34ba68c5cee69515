package dev.coatcheck.migrate.run;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.mapping.MappingFixture;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.redirect.LegacyFixture;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.migrate.plan.PlanRequest;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.source.Diagnostic;
import dev.coatcheck.migrate.source.SearchPath;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.source.TableSpec;
import dev.coatcheck.migrate.source.ThrottleSettings;
import dev.coatcheck.migrate.table.Phase;
import dev.coatcheck.postgres.session.WatchTimeouts;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Table migrations of a gateway on one source, beside the mappings or apart from them. Steps are
 * applied by hand until a test asks for {@link #migrations}, which starts the runners. As an
 * extension in a field it closes after each test, or after the class if the field is static.
 */
public final class MigrationFixture extends MigratedSource {
  public static final String ACTOR = "tester";
  static final String OTHER = "shop";
  private final WatchTimeouts timeoutsWithNetwork;

  /** The clock of its instances. */
  public LongSupplier nanoTime = System::nanoTime;

  private @Nullable Sources sources;
  private @Nullable TableMigrations migrations;
  private @Nullable FaultProxy proxy;

  private MigrationFixture(Optional<TestDatabase> elsewhere, WatchTimeouts timeoutsWithNetwork) {
    super(elsewhere);
    this.timeoutsWithNetwork = timeoutsWithNetwork;
  }

  /** With the source in the database of the mappings. */
  public static MigrationFixture beside() {
    return new MigrationFixture(Optional.empty(), WatchTimeouts.DEFAULT);
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
    return on(elsewhere, WatchTimeouts.DEFAULT);
  }

  /** With a source somewhere else, and another timeouts with its network. */
  public static MigrationFixture on(TestDatabase elsewhere, WatchTimeouts timeouts) {
    return new MigrationFixture(Optional.of(elsewhere), timeouts);
  }

  /** With the source apart, and a network to it that a test can break. */
  public static MigrationFixture behindProxy(WatchTimeouts timeouts) {
    TestDatabase database = TestDatabase.empty();
    try {
      FaultProxy proxy = new FaultProxy(database.port());
      MigrationFixture fixture = on(database.behind(proxy.port()), timeouts);
      fixture.proxy = proxy;
      fixture.direct = database;
      return fixture;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
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
          new Sources(
              gatewaySettings(),
              isBeside ? Map.of() : Map.of(OTHER, settings),
              gateway.observer,
              timeoutsWithNetwork);
    }
    return sources;
  }

  /** A further instance on the same databases. */
  TableMigrations start(String holder) {
    return start(sources(), holder);
  }

  /** An instance of a gateway. */
  public TableMigrations start(Sources sources, String holder) {
    return new TableMigrations(
        gatewayMappings(), sources, gateway.feed, holder, () -> nanoTime.getAsLong());
  }

  public KeyFileImport files() {
    return new KeyFileImport(gatewayMappings(), migrations());
  }

  GatewayMappings gatewayMappings() {
    return new GatewayMappings(
        gateway.database, gateway.registry, MappingFixture.TOKENS, gateway.observer);
  }

  public FaultProxy proxy() {
    return requireNonNull(proxy);
  }

  /** The orders' run, started at so many rows a second, once its backfill has begun. */
  public TableMigration startInTheMiddle(int rowsPerSecondMax) {
    TableMigration run = startWith(settings -> rate(settings, rowsPerSecondMax));
    await(() -> now(run).progress().rowsDone() > 0);
    return run;
  }

  /** Changes the rate of a run; 0 lifts it. */
  public void rate(TableMigration run, int rowsPerSecondMax) {
    set(run, settings -> rate(settings, rowsPerSecondMax));
  }

  /** Changes its throttle settings from the start on. */
  public TableMigration startWith(UnaryOperator<ThrottleSettings> change) {
    TableMigration planned = plan("orders", Optional.of("created_at"));
    set(planned, change);
    start(planned);
    return planned;
  }

  public void set(TableMigration run, UnaryOperator<ThrottleSettings> change) {
    done(migrations().set(run.id(), change, ActionRequest.by(ACTOR)));
  }

  /** Waits for a reason that begins so. */
  public void awaitReason(TableMigration run, String start) {
    await(() -> now(run).status().reason().filter(why -> why.startsWith(start)).isPresent());
  }

  public boolean saw(TableMigration run, String kind, String detail) {
    return migrations().journal().events(run.id(), 0).stream()
        .anyMatch(event -> event.kind().equals(kind) && event.detail().contains(detail));
  }

  /** Of the orders. */
  public TableMigration plan() {
    return plan("orders", Optional.of("created_at"));
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
    return refused(table, type);
  }

  /** The same for a type of its own. */
  List<Diagnostic> refused(String table, Type type) {
    PlanOutcome outcome = planned("public", table, type, Optional.empty());
    if (outcome instanceof PlanOutcome.Refused(List<Diagnostic> findings)) {
      return findings;
    }
    throw new AssertionError(outcome);
  }

  private PlanOutcome planned(String schema, String table, Type type, Optional<String> createdAt) {
    return planned(
        migrations(),
        isBeside ? Sources.GATEWAY : OTHER,
        new TableSpec(schema, table, createdAt, false),
        type,
        Optional.empty());
  }

  private static PlanOutcome planned(
      TableMigrations migrations,
      String source,
      TableSpec table,
      Type type,
      Optional<SearchPath> path) {
    return migrations
        .plan(new PlanRequest(source, table, type, path), ActionRequest.by(ACTOR))
        .outcome();
  }

  /** At another instance, of a table in the schema public of any source. */
  static TableMigration plan(TableMigrations migrations, String source, String table, Type type) {
    TableSpec spec = new TableSpec("public", table, Optional.empty(), false);
    return plan(planned(migrations, source, spec, type, Optional.empty()));
  }

  /** With another search path of the application. */
  TableMigration plan(String schema, String table, SearchPath path) {
    TableSpec spec = new TableSpec(schema, table, Optional.empty(), false);
    return plan(planned(migrations(), OTHER, spec, type, Optional.of(path)));
  }

  /** What a start says that isn't possible. */
  List<Diagnostic> refused(TableMigration run) {
    IdempotentResult<ActionOutcome> result = started(run);
    if (result
        instanceof
        IdempotentResult.Unkeyed<ActionOutcome>(ActionOutcome.Refused(List<Diagnostic> findings))) {
      return findings;
    }
    throw new AssertionError(result);
  }

  /** Accepts whatever it has to. */
  public void start(TableMigration run) {
    done(started(run));
  }

  private IdempotentResult<ActionOutcome> started(TableMigration run) {
    List<String> accepted = run.plan().preconditions().stream().map(one -> one.code()).toList();
    return migrations().start(run.id(), accepted, ActionRequest.by(ACTOR));
  }

  /** Of the orders. */
  public TableMigration run() {
    return run(plan());
  }

  public TableMigration run(TableMigration planned) {
    start(planned);
    return await(planned, RunState.DONE);
  }

  public void pause(TableMigration run) {
    done(migrations().pause(run.id(), ActionRequest.by(ACTOR)));
  }

  public void resume(TableMigration run) {
    done(migrations().resume(run.id(), ActionRequest.by(ACTOR)));
  }

  public void retry(TableMigration run) {
    done(migrations().retry(run.id(), ActionRequest.by(ACTOR)));
  }

  public void beginUndo(TableMigration run, Phase phase) {
    done(migrations().undo(run.id(), phase, ActionRequest.by(ACTOR)));
  }

  public void beginSwitch(TableMigration run) {
    done(migrations().switchWithin(run.id(), SwitchWindow.ANY_TIME, ActionRequest.by(ACTOR)));
  }

  /** Undoes a phase and waits until that is done. */
  public void undo(TableMigration run, Phase phase) {
    beginUndo(run, phase);
    RunState last = phase.isUsual() ? RunState.PAUSED : RunState.DONE;
    await(run, phase == Phase.EXPAND ? RunState.CANCELLED : last);
  }

  /** Moves the primary key and waits until that is done. */
  public TableMigration switchKey(TableMigration run) {
    beginSwitch(run);
    return await(run, RunState.DONE);
  }

  /** Takes the legacy IDs off the table, whatever uses them. */
  public TableMigration contract(TableMigration run) {
    done(contract(run, List.of("old_column", "row_shape")));
    return await(run, RunState.CONTRACTED);
  }

  public IdempotentResult<ActionOutcome> contract(TableMigration run, List<String> accepted) {
    return migrations().contract(run.id(), accepted, ActionRequest.by(ACTOR));
  }

  public TableMigration await(TableMigration run, RunState state) {
    await(
        () -> {
          TableMigration.Status now = now(run).status();
          if (now.state() == RunState.FAILED && state != RunState.FAILED) {
            retryAfterLocks(run, now.reason().orElse(""));
          }
          return now.state() == state;
        });
    return now(run);
  }

  /** Waits until a run has failed; says why. */
  public String failure(TableMigration run) {
    return await(run, RunState.FAILED).status().reason().orElseThrow();
  }

  /** Until the outbox of a run is empty. */
  public void awaitDelivered(TableMigration run) {
    await(() -> outbox(run.target()).lag().entries() == 0);
  }

  /** As an operator does: on a busy machine the tries for a lock may be over before it is free. */
  private void retryAfterLocks(TableMigration run, String reason) {
    if (!reason.contains(" did not get its lock in ")) {
      throw new AssertionError(reason);
    }
    retry(run);
  }

  /** Each legacy ID leads to its row's key, and so does the public ID that it leads to. */
  public void requireLookUps(Type of, Map<Long, Long> keys) {
    try (LegacyFixture legacy = legacy(migrations().unmappedRows())) {
      keys.forEach(
          (id, key) -> {
            ResolveOutcome found = find(legacy, of, id);
            assertThat(found).as("%s %d", of.name(), id).isInstanceOf(ResolveOutcome.Found.class);
            String publicId = ((ResolveOutcome.Found) found).mapping().publicId().toString();
            ResolveOutcome resolved = gateway.resolver.resolve(publicId, AllowedTypes.ALL);
            assertThat(((ResolveOutcome.Found) resolved).mapping().key())
                .isEqualTo(new Key.Bigint(key));
          });
    }
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
  public void close() {
    if (migrations != null) {
      migrations.close();
    }
    if (sources != null) {
      sources.close();
    }
    super.close();
    if (proxy != null) {
      try {
        proxy.close();
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    }
  }
}
