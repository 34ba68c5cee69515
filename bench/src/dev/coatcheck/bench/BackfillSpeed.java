package dev.coatcheck.bench;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.OpenDatabase;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.key.KeyScheme;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.idempotency.OnceResult;
import dev.coatcheck.ids.registry.Policies;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import dev.coatcheck.migrate.inspect.Precondition;
import dev.coatcheck.migrate.run.ActionOutcome;
import dev.coatcheck.migrate.run.PlanOutcome;
import dev.coatcheck.migrate.run.RunEvent;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.migrate.source.Sources;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * P7: how fast a table migration fills a table beside the mappings, batch by batch and with all its
 * triggers, against one UPDATE and one INSERT that write the same rows. The two take turns.
 */
public final class BackfillSpeed {
  private static final int LOOK_MILLIS = 50;
  private static final String ACTOR = "bench";

  private final Registry registry;
  private final TableMigrations migrations;
  private final BackfillBaselineStore store;
  private final int rows;

  private BackfillSpeed(
      Registry registry, TableMigrations migrations, BackfillBaselineStore store, int rows) {
    this.registry = registry;
    this.migrations = migrations;
    this.store = store;
    this.rows = rows;
  }

  /** Rows a second, the median of the runs of each. */
  public record Result(double backfillRowsPerSecond, double statementRowsPerSecond) {
    public double ratio() {
      return backfillRowsPerSecond / statementRowsPerSecond;
    }
  }

  /**
   * Measures on the embedded Postgres of the configuration, which must be new.
   *
   * @param runs of each, after one that doesn't count
   */
  public static Result measure(Config config, int rows, int runs, Progress progress)
      throws StartFailed, InterruptedException {
    Observer observer = new Observer();
    RandomSource random = new RandomSource();
    try (OpenDatabase opened = OpenDatabase.open(config, observer);
        Registry registry =
            Registry.open(
                opened.database(), ChangeFeed.none(), random, observer, System::nanoTime);
        Sources sources = Sources.open(opened.settings(), Map.of(), observer);
        TableMigrations migrations =
            TableMigrations.start(
                new TableMigrations.Makings(
                    opened.database(),
                    sources,
                    registry,
                    new TokenSource(random),
                    observer,
                    "bench"));
        BackfillBaselineStore store = new BackfillBaselineStore(opened.settings())) {
      return new BackfillSpeed(registry, migrations, store, rows).measure(runs, progress);
    }
  }

  private Result measure(int runs, Progress progress) throws InterruptedException {
    store.createYardstick();
    List<Double> backfills = new ArrayList<>();
    List<Double> statements = new ArrayList<>();
    for (int run = 0; run <= runs; run++) {
      Type type = type(run);
      double backfill = rows / secondsOfBackfill("bench_ours_" + run, type);
      progress.advanced(rows);
      double statement = rows / secondsOfStatements("bench_plain_" + run, type);
      progress.advanced(rows);
      if (run > 0) {
        backfills.add(backfill);
        statements.add(statement);
      }
    }
    return new Result(median(backfills), median(statements));
  }

  /** From the first batch to the last sweep. */
  private double secondsOfBackfill(String table, Type type) throws InterruptedException {
    store.createTable(table, rows);
    store.settle();
    OnceResult<PlanOutcome> result =
        migrations.plan(
            new TableMigrations.PlanRequest(
                Sources.GATEWAY, "public", table, type, Optional.of("created_at"), true),
            TableMigrations.Asked.by(ACTOR));
    if (!(result
        instanceof
        OnceResult.Unkeyed<PlanOutcome>(PlanOutcome.Planned(TableMigration.Whole whole)))) {
      throw new IllegalStateException("no plan: " + result);
    }
    TableMigration run = whole.run();
    OnceResult<ActionOutcome> started =
        migrations.start(
            run.id(),
            run.plan().preconditions().stream().map(Precondition::code).toList(),
            TableMigrations.Asked.by(ACTOR));
    if (!(started instanceof OnceResult.Unkeyed<ActionOutcome>(ActionOutcome.Done _))) {
      throw new IllegalStateException("not started: " + started);
    }
    TableMigration.Status status = run.status();
    while (status.state() != RunState.DONE) {
      if (status.state() == RunState.FAILED) {
        throw new IllegalStateException(status.reason().orElse(""));
      }
      Thread.sleep(LOOK_MILLIS);
      status = migrations.find(run.id()).orElseThrow().status();
    }
    List<RunEvent> events = migrations.events(run.id(), 0);
    return Duration.between(at(events, "step_started"), at(events, "step_applied")).toNanos() / 1e9;
  }

  private static Instant at(List<RunEvent> events, String kind) {
    return events.stream()
        .filter(event -> event.kind().equals(kind) && event.detail().equals("backfill fill"))
        .map(RunEvent::at)
        .findFirst()
        .orElseThrow();
  }

  private double secondsOfStatements(String table, Type type) {
    store.createTable(table, rows);
    store.addColumn(table);
    store.settle();
    long from = System.nanoTime();
    store.fill(table, type.name());
    return (System.nanoTime() - from) / 1e9;
  }

  private Type type(int run) {
    String name = "bench_" + run;
    registry.put(
        new TypeDefinition(
            name,
            new Prefix("bench" + run),
            KeyScheme.SNOWFLAKE,
            SnowflakeLayout.DEFAULT,
            Policies.DEFAULT),
        OptionalInt.empty());
    return registry.named(name).orElseThrow();
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
  }
}
