package dev.coatcheck.api.console;

import dev.coatcheck.api.console.access.SignInPages;
import dev.coatcheck.api.console.audit.AuditPage;
import dev.coatcheck.api.console.find.FindPages;
import dev.coatcheck.api.console.overview.OverviewPage;
import dev.coatcheck.api.console.page.ConsoleMode;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.ThemeSwitch;
import dev.coatcheck.api.exchange.Failures;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.api.server.Routes;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.access.ConsoleSessions;
import dev.coatcheck.ids.access.Proxies;
import java.time.InstantSource;

/** All pages of the console, {@code /console}. */
public final class ConsoleRoutes implements Routes {
  private final ThemeSwitch theme;
  private final SignInPages signIn;
  private final FindPages find;
  private final OverviewPage overview;
  private final AuditPage audit;

  /** What the pages ask, by rooms. */
  public record Verbs(FindPages.Verbs find, OverviewPage.Verbs overview) {}

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
    this.theme = new ThemeSwitch(gate);
    this.signIn = new SignInPages(gate, sessions);
    this.find = new FindPages(gate, verbs.find(), clock);
    this.overview = new OverviewPage(gate, verbs.overview());
    this.audit = new AuditPage(gate, verbs.find().audit());
  }

  @Override
  public void register(Endpoints endpoints) {
    theme.register(endpoints);
    signIn.register(endpoints);
    find.register(endpoints);
    overview.register(endpoints);
    audit.register(endpoints);
  }
}
