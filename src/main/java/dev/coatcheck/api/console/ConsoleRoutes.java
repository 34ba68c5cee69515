package dev.coatcheck.api.console;

import dev.coatcheck.api.console.access.KeyPages;
import dev.coatcheck.api.console.access.SignInLink;
import dev.coatcheck.api.console.access.SignInPages;
import dev.coatcheck.api.console.audit.AuditPages;
import dev.coatcheck.api.console.find.FindPages;
import dev.coatcheck.api.console.links.LinkPages;
import dev.coatcheck.api.console.migrations.MigrationPages;
import dev.coatcheck.api.console.overview.OverviewPage;
import dev.coatcheck.api.console.page.ConsoleMode;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Live;
import dev.coatcheck.api.console.page.ThemeSwitch;
import dev.coatcheck.api.console.types.TypePages;
import dev.coatcheck.api.exchange.Failures;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.ConsoleSessions;
import dev.coatcheck.ids.access.Proxies;
import java.time.InstantSource;
import java.util.Optional;

/** All pages of the console, {@code /console}. */
public final class ConsoleRoutes implements Routes, AutoCloseable {
  private final ThemeSwitch theme;
  private final SignInPages signIn;
  private final FindPages find;
  private final OverviewPage overview;
  private final TypePages types;
  private final Live live;
  private final MigrationPages migrations;
  private final KeyPages keys;
  private final AuditPages audit;
  private final LinkPages links;

  /** What the pages ask, by rooms. */
  public record Verbs(
      FindPages.Verbs find,
      OverviewPage.Verbs overview,
      TypePages.Verbs types,
      MigrationPages.Verbs migrations,
      KeyPages.Verbs keys,
      AuditPages.Verbs audit,
      LinkPages.Verbs links) {}

  /**
   * @param mode {@code READ_ONLY} or {@code ON}
   * @param link that signs in once; empty for none
   */
  public ConsoleRoutes(
      ConsoleMode mode,
      ConsoleSessions sessions,
      Proxies proxies,
      Verbs verbs,
      Optional<SignInLink> link,
      Observer observer,
      InstantSource clock) {
    Gate gate = new Gate(mode, sessions, proxies, new Failures(observer));
    this.theme = new ThemeSwitch(gate);
    this.signIn = new SignInPages(gate, sessions, link);
    this.find = new FindPages(gate, verbs.find(), clock);
    this.live = new Live(sessions, observer);
    this.overview = new OverviewPage(gate, live, verbs.overview());
    this.types = new TypePages(gate, verbs.types(), clock);
    this.migrations = new MigrationPages(gate, live, verbs.migrations());
    this.keys = new KeyPages(gate, verbs.keys(), clock);
    this.audit = new AuditPages(gate, verbs.audit());
    this.links = new LinkPages(gate, verbs.links(), clock);
  }

  @Override
  public void register(Endpoints endpoints) {
    theme.register(endpoints);
    signIn.register(endpoints);
    find.register(endpoints);
    overview.register(endpoints);
    keys.register(endpoints);
    audit.register(endpoints);
    links.register(endpoints);
    types.register(endpoints);
    migrations.register(endpoints);
  }

  /** Ends the streams of pages that move. Otherwise a graceful stop would wait for them. */
  @Override
  public void close() {
    live.close();
  }
}
