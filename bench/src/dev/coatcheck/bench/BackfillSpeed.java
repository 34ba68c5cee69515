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
import dev.coatcheck.ids.idempotency.IdempotentResult;
import dev.coatcheck.ids.registry.Policies;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import dev.coatcheck.migrate.application.Precondition;
import dev.coatcheck.migrate.journal.ActionOutcome;
import dev.coatcheck.migrate.journal.Asked;
import dev.coatcheck.migrate.journal.PlanOutcome;
import dev.coatcheck.migrate.journal.RunEvent;
import dev.coatcheck.migrate.journal.RunState;
import dev.coatcheck.migrate.journal.TableMigration;
import dev.coatcheck.migrate.plan.PlanRequest;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.migrate.source.TableSpec;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * P7: how fast a table migration fills a table, batch by batch and with all its triggers, against
 * one UPDATE and one INSERT that write the same rows: beside the mappings, and in a database of its
 * own, until the last mapping has come through the outbox. The three take turns.
 */
public final class BackfillSpeed {
  private static final int LOOK_MILLIS = 50;
  private static final String ACTOR = "bench";
  private static final String FILL = "backfill fill";
  private static final String VERIFY = "verify verify";

  /** A source of its own, on the same server. */
  private static final String APART = "apart";

  /** Of each: a table beside the mappings, a table apart, the two statements. */
  static final int PARTS = 3;

  private final Registry registry;
  private final TableMigrations migrations;
  private final BackfillBaselineStore store;
  private final BackfillBaselineStore apart;
  private final int rows;

  private BackfillSpeed(
      Registry registry,
      TableMigrations migrations,
      BackfillBaselineStore store,
      BackfillBaselineStore apart,
      int rows) {
    this.registry = registry;
    this.migrations = migrations;
    this.store = store;
    this.apart = apart;
    this.rows = rows;
  }

  /**
   * Rows a second, the median of the runs of each.
   *
   * @param verifyRatio the time of the verification against that of the backfill, beside the
   *     mappings
   */
  public record Result(
      double besideRowsPerSecond,
      double apartRowsPerSecond,
      double statementRowsPerSecond,
      double verifyRatio) {
    public double besideRatio() {
      return besideRowsPerSecond / statementRowsPerSecond;
    }

    public double apartRatio() {
      return apartRowsPerSecond / statementRowsPerSecond;
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
        BackfillBaselineStore store = new BackfillBaselineStore(opened.settings())) {
      DatabaseSettings elsewhere = store.createDatabase("bench_apart");
      try (Sources sources = Sources.open(opened.settings(), Map.of(APART, elsewhere), observer);
          BackfillBaselineStore apart = new BackfillBaselineStore(elsewhere);
          TableMigrations migrations =
              TableMigrations.start(
                  new GatewayMappings(
                      opened.database(), registry, new TokenSource(random), observer),
                  sources,
                  "bench",
                  System::nanoTime)) {
        return new BackfillSpeed(registry, migrations, store, apart, rows).measure(runs, progress);
      }
    }
  }

  private Result measure(int runs, Progress progress) throws InterruptedException {
    store.createYardstick();
    List<Double> besides = new ArrayList<>();
    List<Double> aparts = new ArrayList<>();
    List<Double> statements = new ArrayList<>();
    List<Double> verifies = new ArrayList<>();
    for (int run = 0; run <= runs; run++) {
      Type type = type("bench" + run);
      List<RunEvent> events = eventsBeside("bench_ours_" + run, type);
      double backfill = seconds(events, FILL);
      double beside = rows / backfill;
      double verify = seconds(events, VERIFY) / backfill;
      progress.advanced(rows);
      double statement = rows / secondsOfStatements("bench_plain_" + run, type);
      progress.advanced(rows);
      double elsewhere = rows / secondsApart("bench_apart_" + run, type("apart" + run));
      progress.advanced(rows);
      if (run > 0) {
        besides.add(beside);
        statements.add(statement);
        aparts.add(elsewhere);
        verifies.add(verify);
      }
    }
    return new Result(median(besides), median(aparts), median(statements), median(verifies));
  }

  /** What happened to a run through all phases. */
  private List<RunEvent> eventsBeside(String table, Type type) throws InterruptedException {
    store.createTable(table, rows);
    store.settle();
    TableMigration run = start(Sources.GATEWAY, table, type);
    await(run, RunState.DONE);
    return migrations.journal().events(run.id(), 0);
  }

  private static double seconds(List<RunEvent> events, String step) {
    return Duration.between(at(events, "step_started", step), at(events, "step_applied", step))
            .toNanos()
        / 1e9;
  }

  /** From the first batch until no entry is left in the outbox. */
  private double secondsApart(String table, Type type) throws InterruptedException {
    apart.createTable(table, rows);
    store.settle();
    TableMigration run = start(APART, table, type);
    while (migrations.journal().events(run.id(), 0).stream()
        .noneMatch(event -> is(event, "step_applied", FILL))) {
      requireNotFailed(run);
      Thread.sleep(LOOK_MILLIS);
    }
    // What comes after the backfill is no part of the figure.
    act(migrations.pause(run.id(), Asked.by(ACTOR)));
    while (!apart.isOutboxEmpty(run.target())) {
      Thread.sleep(LOOK_MILLIS);
    }
    Instant end = Instant.now();
    Instant begin = at(migrations.journal().events(run.id(), 0), "step_started", FILL);
    act(migrations.resume(run.id(), Asked.by(ACTOR)));
    await(run, RunState.DONE);
    return Duration.between(begin, end).toNanos() / 1e9;
  }

  private TableMigration start(String source, String table, Type type) {
    IdempotentResult<PlanOutcome> result =
        migrations.plan(
            new PlanRequest(
                source,
                new TableSpec("public", table, Optional.of("created_at"), true),
                type,
                Optional.empty()),
            Asked.by(ACTOR));
    if (!(result
        instanceof
        IdempotentResult.Unkeyed<PlanOutcome>(PlanOutcome.Planned(TableMigration.Whole whole)))) {
      throw new IllegalStateException("no plan: " + result);
    }
    TableMigration run = whole.run();
    act(
        migrations.start(
            run.id(),
            run.plan().preconditions().stream().map(Precondition::code).toList(),
            Asked.by(ACTOR)));
    return run;
  }

  private static void act(IdempotentResult<ActionOutcome> result) {
    if (!(result instanceof IdempotentResult.Unkeyed<ActionOutcome>(ActionOutcome.Done _))) {
      throw new IllegalStateException("refused: " + result);
    }
  }

  private void await(TableMigration run, RunState state) throws InterruptedException {
    while (requireNotFailed(run).state() != state) {
      Thread.sleep(LOOK_MILLIS);
    }
  }

  private TableMigration.Status requireNotFailed(TableMigration run) {
    TableMigration.Status status = migrations.journal().find(run.id()).orElseThrow().status();
    if (status.state() == RunState.FAILED) {
      throw new IllegalStateException(status.reason().orElse(""));
    }
    return status;
  }

  private static boolean is(RunEvent event, String kind, String step) {
    return event.kind().equals(kind) && event.detail().equals(step);
  }

  private static Instant at(List<RunEvent> events, String kind, String step) {
    return events.stream()
        .filter(event -> is(event, kind, step))
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

  private Type type(String name) {
    registry.put(
        new TypeDefinition(
            name, new Prefix(name), KeyScheme.SNOWFLAKE, SnowflakeLayout.DEFAULT, Policies.DEFAULT),
        OptionalInt.empty());
    return registry.named(name).orElseThrow();
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
  }
}
