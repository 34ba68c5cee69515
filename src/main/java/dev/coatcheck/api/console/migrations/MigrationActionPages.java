package dev.coatcheck.api.console.migrations;

import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.migrate.run.RunAction;
import dev.coatcheck.migrate.run.TableMigrations;
import dev.coatcheck.migrate.source.Sources;

/** The pages that plan a table migration, and that do what can be done to a run. */
public final class MigrationActionPages {
  private final Gate gate;
  private final Verbs verbs;

  /** What the pages ask. */
  public record Verbs(TableMigrations migrations, Registry registry, Sources sources) {}

  public MigrationActionPages(Gate gate, Verbs verbs) {
    this.gate = gate;
    this.verbs = verbs;
  }

  public void register(Endpoints endpoints) {
    gate.register(endpoints, new PlanPage(verbs));
    for (RunAction action : RunAction.values()) {
      gate.register(endpoints, new ActionPage(action, verbs));
    }
  }
}
