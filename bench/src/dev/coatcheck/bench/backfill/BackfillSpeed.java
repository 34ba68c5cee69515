package dev.coatcheck.bench.backfill;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.OpenDatabase;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.bench.report.Goal;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.bench.report.Samples;
import dev.coatcheck.bench.speed.Progress;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.ids.registry.Policies;
import dev.coatcheck.ids.registry.PutConditions;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import dev.coatcheck.migrate.relay.GatewayMappings;
import dev.coatcheck.migrate.run.ActionRequest;
import dev.coatcheck.migrate.run.RunEvent;
import dev.coatcheck.migrate.run.RunState;
import dev.coatcheck.migrate.run.TableMigration;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.migrate.source.Sources;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * P7: how fast a table migration fills a table, batch by batch and with all its triggers, against
 * one UPDATE and one INSERT that write the same rows: beside the mappings, and in a database of its
 * own, until the last mapping has come through the outbox. The three take turns.
 */
public final class BackfillSpeed {
  private static final String FILL = "backfill fill";
  private static final String VERIFY = "verify verify";

  /** A source of its own, on the same server. */
  private static final String APART = "apart";

  /** Of each: a table beside the mappings, a table apart, the two statements. */
  public static final int PARTS = 3;

  private final Registry registry;
  private final TableMigrations migrations;
  private final BackfillRuns runs;
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
    this.runs = new BackfillRuns(migrations);
    this.store = store;
    this.apart = apart;
    this.rows = rows;
  }

  /**
   * Measures on the embedded Postgres of the configuration, which must be new.
   *
   * @param runs of each, after one that doesn't count
   * @return the rows of P7
   */
  public static List<Row> measure(Config config, int rows, int runs, Progress progress)
      throws StartFailed, InterruptedException {
    Observer observer = new Observer();
    RandomSource random = new RandomSource();
    try (OpenDatabase opened = OpenDatabase.open(config, observer);
        ChangeFeed feed =
            ChangeFeed.open(
                opened.settings(), observer, System::nanoTime, System::currentTimeMillis);
        Registry registry =
            Registry.open(
                opened.database(), feed, SealKeys.NONE, random, observer, System::nanoTime);
        BackfillBaselineStore store = new BackfillBaselineStore(opened.settings())) {
      DatabaseSettings elsewhere = store.createDatabase("bench_apart");
      try (Sources sources = new Sources(opened.settings(), Map.of(APART, elsewhere), observer);
          BackfillBaselineStore apart = new BackfillBaselineStore(elsewhere);
          TableMigrations migrations =
              new TableMigrations(
                  new GatewayMappings(
                      opened.database(), registry, new TokenSource(random), observer),
                  sources,
                  feed,
                  "bench",
                  System::nanoTime)) {
        return new BackfillSpeed(registry, migrations, store, apart, rows).measure(runs, progress);
      }
    }
  }

  private List<Row> measure(int times, Progress progress) throws InterruptedException {
    store.createYardstick();
    List<Double> besides = new ArrayList<>();
    List<Double> aparts = new ArrayList<>();
    List<Double> statements = new ArrayList<>();
    List<Double> verifies = new ArrayList<>();
    for (int run = 0; run <= times; run++) {
      Type type = type("bench" + run);
      List<RunEvent> events = eventsBeside("bench_ours_" + run, type);
      double backfill = BackfillRuns.seconds(events, FILL);
      double beside = rows / backfill;
      double verify = BackfillRuns.seconds(events, VERIFY) / backfill;
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
    Row.Baseline plain = new Row.Baseline("an UPDATE and an INSERT", new Samples(statements));
    return List.of(
        row("P7", "backfill beside the mappings", besides, plain),
        row("P7 apart", "backfill, a source of its own", aparts, plain),
        new Row(
            "P7 verify",
            "verify against backfill",
            "ratio",
            true,
            new Samples(verifies),
            Optional.empty(),
            Optional.of(Goal.atMost(1))));
  }

  private static Row row(String name, String what, List<Double> rates, Row.Baseline plain) {
    return new Row(
        name,
        what,
        "rows a second",
        false,
        new Samples(rates),
        Optional.of(plain),
        Optional.of(Goal.ratioAtLeast(0.8)));
  }

  /** What happened to a run through all phases. */
  private List<RunEvent> eventsBeside(String table, Type type) throws InterruptedException {
    store.createTable(table, rows);
    store.settle();
    TableMigration run = runs.start(Sources.GATEWAY, table, type);
    runs.await(run, RunState.DONE);
    return migrations.journal().events(run.id(), 0);
  }

  /** From the first batch until no entry is left in the outbox. */
  private double secondsApart(String table, Type type) throws InterruptedException {
    apart.createTable(table, rows);
    store.settle();
    TableMigration run = runs.start(APART, table, type);
    while (migrations.journal().events(run.id(), 0).stream()
        .noneMatch(event -> BackfillRuns.is(event, "step_applied", FILL))) {
      runs.requireNotFailed(run);
      Thread.sleep(BackfillRuns.LOOK_MILLIS);
    }
    // What comes after the backfill is no part of the figure.
    BackfillRuns.act(migrations.pause(run.id(), ActionRequest.by(BackfillRuns.ACTOR)));
    while (!apart.isOutboxEmpty(run.target())) {
      Thread.sleep(BackfillRuns.LOOK_MILLIS);
    }
    Instant end = Instant.now();
    Instant begin = BackfillRuns.at(migrations.journal().events(run.id(), 0), "step_started", FILL);
    BackfillRuns.act(migrations.resume(run.id(), ActionRequest.by(BackfillRuns.ACTOR)));
    runs.await(run, RunState.DONE);
    return Duration.between(begin, end).toNanos() / 1e9;
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
            name,
            new Prefix(name),
            KeyKind.BIGINT,
            KeyGeneration.usual(KeyKind.BIGINT),
            Policies.DEFAULT,
            Optional.empty(),
            Optional.empty(),
            false),
        PutConditions.NONE,
        Actor.operator());
    return registry.named(name).orElseThrow();
  }
}
