package dev.coatcheck.tablemigration;

import dev.coatcheck.fileimport.FileImports;
import dev.coatcheck.mapping.MappingFixture;
import dev.coatcheck.rekey.Phase;
import dev.coatcheck.rekey.RekeyFixture;
import dev.coatcheck.source.Sources;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.awaitility.Awaitility;

/** A gateway's table migrations on one source, beside the mappings or in another database. */
final class MigrationFixture implements AutoCloseable {
  static final String ACTOR = "tester";
  static final String OTHER = "shop";

  final RekeyFixture source;
  final TableMigrations migrations;
  private final Sources sources;
  private final boolean isBeside;

  /** How long a state may be waited for. */
  Duration patience = Duration.ofSeconds(60);

  MigrationFixture(boolean isBeside) {
    this.isBeside = isBeside;
    this.source = new RekeyFixture(isBeside);
    this.sources =
        Sources.open(
            isBeside ? source.settings : source.gatewaySettings(),
            isBeside ? Map.of() : Map.of(OTHER, source.settings),
            source.gateway.observer);
    this.migrations = start("one");
  }

  /** A further instance on the same databases. */
  TableMigrations start(String holder) {
    return TableMigrations.start(
        new TableMigrations.Makings(
            source.gateway.database,
            sources,
            source.gateway.registry,
            MappingFixture.TOKENS,
            source.gateway.observer,
            holder));
  }

  FileImports files() {
    return new FileImports(
        source.gateway.database,
        migrations,
        source.gateway.registry,
        MappingFixture.TOKENS,
        source.gateway.observer);
  }

  TableMigration plan(String table, Optional<String> createdAt) {
    PlanOutcome outcome =
        migrations.plan(
            new PlanRequest(
                isBeside ? Sources.GATEWAY : OTHER, "public", table, source.type, createdAt, false),
            ACTOR);
    if (outcome instanceof PlanOutcome.Planned(TableMigration run)) {
      return run;
    }
    throw new AssertionError(outcome);
  }

  /** Accepts whatever it has to. */
  void start(TableMigration run) {
    done(
        migrations.start(
            run.id(), run.plan().preconditions().stream().map(one -> one.code()).toList(), ACTOR));
  }

  TableMigration run(TableMigration planned) {
    start(planned);
    return await(planned, RunState.DONE);
  }

  /** Undoes a phase and waits until that is done. */
  void undo(TableMigration run, Phase phase) {
    done(migrations.undo(run.id(), phase, ACTOR));
    await(run, phase == Phase.EXPAND ? RunState.CANCELLED : RunState.PAUSED);
  }

  TableMigration await(TableMigration run, RunState state) {
    Awaitility.await()
        .atMost(patience)
        .pollInterval(Duration.ofMillis(100))
        .until(
            () -> {
              TableMigration.Status now = now(run).status();
              if (now.state() == RunState.FAILED && state != RunState.FAILED) {
                throw new AssertionError(now.reason().orElse(""));
              }
              return now.state() == state;
            });
    return now(run);
  }

  TableMigration now(TableMigration run) {
    return migrations.find(run.id()).orElseThrow();
  }

  static TableMigration done(ActionOutcome outcome) {
    if (outcome instanceof ActionOutcome.Done(TableMigration run)) {
      return run;
    }
    throw new AssertionError(outcome);
  }

  @Override
  public void close() {
    migrations.close();
    sources.close();
    source.close();
  }
}
