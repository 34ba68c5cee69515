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
import java.util.List;
import java.util.Optional;

/** All pages of the console, {@code /console}. */
public final class ConsoleRoutes implements Routes, AutoCloseable {
  private final Live live;
  private final List<Routes> pages;

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
    this.live = new Live(sessions, observer);
    this.pages =
        List.of(
            new ThemeSwitch(gate)::register,
            new SignInPages(gate, sessions, link)::register,
            new FindPages(gate, verbs.find(), clock)::register,
            new OverviewPage(gate, live, verbs.overview())::register,
            new KeyPages(gate, verbs.keys())::register,
            new AuditPages(gate, verbs.audit())::register,
            new LinkPages(gate, verbs.links(), clock)::register,
            new TypePages(gate, verbs.types(), clock)::register,
            new MigrationPages(gate, live, verbs.migrations())::register);
  }

  @Override
  public void register(Endpoints endpoints) {
    pages.forEach(page -> page.register(endpoints));
  }

  /** Ends the streams of pages that move. Otherwise a graceful stop would wait for them. */
  @Override
  public void close() {
    live.close();
  }
}
