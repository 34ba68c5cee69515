package dev.coatcheck.api.console;

import dev.coatcheck.api.exchange.Failures;
import dev.coatcheck.api.routes.urls.RedirectRoutes;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.cluster.audit.Audit;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.ConsoleSessions;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.ending.Endings;
import dev.coatcheck.ids.mapping.IdParser;
import dev.coatcheck.ids.mapping.Lookup;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.registry.Registry;
import java.time.InstantSource;

/** All pages of the console, {@code /console}. */
public final class ConsoleRoutes implements Routes {
  /** The first page. */
  static final String HOME = "/console";

  private final SignInPages signIn;
  private final FindPage find;
  private final ChangePages changes;

  /** What the pages ask. */
  public record Verbs(
      Registry registry,
      IdParser parser,
      Resolver resolver,
      Lookup lookup,
      Aliases aliases,
      Endings endings,
      RedirectRoutes redirects,
      Audit audit) {}

  /**
   * @param mode {@code READ_ONLY} or {@code ON}
   */
  public ConsoleRoutes(
      ConsoleMode mode,
      ConsoleSessions sessions,
      Proxies proxies,
      Verbs verbs,
      Observer observer,
      InstantSource clock) {
    Gate gate = new Gate(mode, sessions, proxies, new Failures(observer));
    this.signIn = new SignInPages(gate, sessions, new WrongKeys(System::nanoTime));
    this.find = new FindPage(gate, new TextFinder(verbs), verbs.registry(), clock);
    this.changes = new ChangePages(gate, verbs);
  }

  @Override
  public void register(Endpoints endpoints) {
    signIn.register(endpoints);
    find.register(endpoints);
    changes.register(endpoints);
  }
}
