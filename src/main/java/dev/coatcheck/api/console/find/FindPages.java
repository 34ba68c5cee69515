package dev.coatcheck.api.console.find;

import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.routes.urls.RedirectRoutes;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.cluster.audit.Audit;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.ending.Endings;
import dev.coatcheck.ids.ending.Erasures;
import dev.coatcheck.ids.mapping.IdParser;
import dev.coatcheck.ids.mapping.Lookup;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.registry.Registry;
import java.time.InstantSource;

/** The pages that say what an ID is, and what can be done to it. */
public final class FindPages {
  private final FindPage find;
  private final ChangePages changes;
  private final ErasePage erase;

  /** What the pages ask. */
  public record Verbs(
      Registry registry,
      IdParser parser,
      Resolver resolver,
      Lookup lookup,
      Aliases aliases,
      Endings endings,
      Erasures erasures,
      RedirectRoutes redirects,
      Audit audit) {}

  public FindPages(Gate gate, Verbs verbs, InstantSource clock) {
    this.find = new FindPage(gate, new TextFinder(verbs), verbs.registry(), clock);
    this.changes = new ChangePages(gate, verbs);
    this.erase = new ErasePage(gate, verbs.erasures(), verbs.resolver());
  }

  public void register(Endpoints endpoints) {
    find.register(endpoints);
    changes.register(endpoints);
    erase.register(endpoints);
  }
}
