package dev.coatcheck.api.console.types;

import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.routes.Parameters;
import dev.coatcheck.api.routes.types.TypeChanges;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.cluster.audit.Audit;
import dev.coatcheck.ids.mapping.Lookup;
import dev.coatcheck.ids.redirect.LegacyCallers;
import dev.coatcheck.ids.redirect.LegacyHits;
import dev.coatcheck.ids.registry.Registry;
import java.time.InstantSource;

/** The pages of types and of legacy traffic. */
public final class TypePages {
  private final ShownTypes types;
  private final ShownLegacy legacy;
  private final ChangePages changes;

  /** What the pages ask. */
  public record Verbs(
      Registry registry,
      Parameters parameters,
      TypeChanges changes,
      Lookup lookup,
      LegacyHits hits,
      LegacyCallers callers,
      Audit audit) {}

  public TypePages(Gate gate, Verbs verbs, InstantSource clock) {
    this.types = new ShownTypes(gate, verbs);
    this.legacy = new ShownLegacy(gate, verbs, clock);
    this.changes = new ChangePages(gate, verbs, clock);
  }

  public void register(Endpoints endpoints) {
    changes.register(endpoints);
    types.register(endpoints);
    legacy.register(endpoints);
  }
}
