package dev.coatcheck.api.console.links;

import dev.coatcheck.api.console.page.Display;
import dev.coatcheck.api.console.page.Frame;
import dev.coatcheck.api.console.page.Gate;
import dev.coatcheck.api.console.page.Html;
import dev.coatcheck.api.console.page.Paths;
import dev.coatcheck.api.console.page.Section;
import dev.coatcheck.api.console.page.Visit;
import dev.coatcheck.api.exchange.Answer;
import dev.coatcheck.api.exchange.Query;
import dev.coatcheck.api.routes.Asked;
import dev.coatcheck.api.routes.urls.ProxyRoutes;
import dev.coatcheck.api.routes.urls.RedirectRoutes;
import dev.coatcheck.api.server.Endpoints;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.access.Proxies;
import dev.coatcheck.ids.redirect.Redirector;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.url.ProxiedUrls;
import dev.coatcheck.ids.url.UrlOutcome;
import dev.coatcheck.ids.url.UrlReading;
import dev.coatcheck.ids.url.UrlResolver;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Tries a URL, {@code /console/links?url=URL}: what it holds, what a proxy is told, and what a
 * stranger gets. A trial counts no legacy hits, and never leads anywhere itself.
 */
public final class LinkPages {
  private static final String URL = "url";
  private static final String LEGACY = "legacy";
  private static final String BARE_KEYS = "bare_keys";
  private static final Pattern LINK = Pattern.compile("/r/([^/?%]+)(?:\\?.*)?");
  private static final Pattern LEGACY_LINK =
      Pattern.compile("/legacy/([^/?%]+)/([^/?%]+)(?:\\?.*)?");

  private final Gate gate;
  private final Verbs verbs;
  private final InstantSource clock;

  /** What the page asks. */
  public record Verbs(
      UrlResolver urls, Redirector redirector, Registry registry, Proxies proxies) {}

  public LinkPages(Gate gate, Verbs verbs, InstantSource clock) {
    this.gate = gate;
    this.verbs = verbs;
    this.clock = clock;
  }

  public void register(Endpoints endpoints) {
    endpoints.page(HandlerType.GET, Section.LINKS.path(), gate.page(this::show));
  }

  /**
   * @param redirects whether the proxy sends {@code X-Coatcheck-Legacy: redirect}
   * @param refusesBareKeys whether it sends {@code X-Coatcheck-Bare-Keys: refuse}
   */
  record Wish(String url, boolean redirects, boolean refusesBareKeys) {}

  /**
   * @param uri path and query, as the proxy sends them
   * @param link what the gateway answers to a stranger, if this is a link of its own
   * @param isForSomeTypes whether links of other types are tried as if they were unknown
   */
  record Trial(
      String uri,
      List<String> templates,
      List<PartRow> parts,
      Told proxy,
      Optional<Told> link,
      boolean isForSomeTypes) {
    Trial {
      templates = List.copyOf(templates);
      parts = List.copyOf(parts);
    }
  }

  /**
   * @param fault why the URL can't be read, or an empty text
   */
  record View(Frame frame, Wish wish, Optional<Trial> trial, String fault) {
    String curl(String uri) {
      return "curl -i -H \"Authorization: Bearer $COATCHECK_API_KEY\" -H "
          + Display.shellWord("X-Original-URI: " + uri)
          + (wish.redirects() ? " -H 'X-Coatcheck-Legacy: redirect'" : "")
          + (wish.refusesBareKeys() ? " -H 'X-Coatcheck-Bare-Keys: refuse'" : "")
          + " \"$COATCHECK_URL"
          + ProxyRoutes.AUTH_REQUEST
          + "\"";
    }

    String resolve(String uri) {
      return Display.curl("GET", "/v1/urls/resolve?url=" + Paths.encoded(uri), "");
    }
  }

  private Answer show(Context ctx, Visit visit) {
    Gate.require(visit, Section.LINKS.needed());
    Query query = Query.ofForm(ctx, URL, LEGACY, BARE_KEYS);
    Wish wish =
        new Wish(
            query.text(URL).orElse(""),
            query.text(LEGACY).filter("redirect"::equals).isPresent(),
            query.text(BARE_KEYS).filter("refuse"::equals).isPresent());
    Frame frame = visit.frame(Section.LINKS, "Links");
    if (wish.url().isEmpty()) {
      return page(200, new View(frame, wish, Optional.empty(), ""));
    }
    AllowedTypes allowed = visit.types();
    UrlResolver urls = verbs.urls().uncounted();
    Asked stranger = Asked.stranger(ctx, Map.of("Accept", "text/html"));
    // A browser keeps what follows a # to itself.
    String sent = wish.url().replaceFirst("#.*", "");
    return switch (urls.explain(sent, allowed, stranger.caller(verbs.proxies()))) {
      case UrlReading.Refused(UrlOutcome.Refused why) ->
          page(400, new View(frame, wish, Optional.empty(), words(why)));
      case UrlReading.Sound reading ->
          page(
              200,
              new View(frame, wish, Optional.of(trial(ctx, wish, reading, allowed, urls)), ""));
    };
  }

  private Trial trial(
      Context ctx, Wish wish, UrlReading.Sound reading, AllowedTypes allowed, UrlResolver urls) {
    Redirector redirector = verbs.redirector().uncounted(allowed);
    ProxyRoutes proxy =
        new ProxyRoutes(new ProxiedUrls(urls, redirector, verbs.registry()), verbs.proxies());
    Asked asked =
        Asked.stranger(
            ctx,
            Map.of(
                "X-Original-URI",
                reading.requestUri(),
                "X-Coatcheck-Legacy",
                wish.redirects() ? "redirect" : "resolve",
                "X-Coatcheck-Bare-Keys",
                wish.refusesBareKeys() ? "refuse" : "pass"));
    return new Trial(
        reading.requestUri(),
        reading.templates(),
        reading.parts().stream().map(part -> PartRow.of(part, clock.instant())).toList(),
        Told.of(proxy.authRequest(asked, allowed)),
        link(
                reading.requestUri(),
                new RedirectRoutes(redirector, verbs.proxies()),
                Asked.stranger(ctx, Map.of("Accept", "text/html")))
            .map(Told::of),
        !allowed.areAll());
  }

  private static Optional<Answer> link(String uri, RedirectRoutes links, Asked stranger) {
    Matcher link = LINK.matcher(uri);
    if (link.matches()) {
      return Optional.of(links.redirect(link.group(1), stranger));
    }
    Matcher legacy = LEGACY_LINK.matcher(uri);
    return legacy.matches()
        ? Optional.of(links.follow(legacy.group(1), legacy.group(2), stranger))
        : Optional.empty();
  }

  private static String words(UrlOutcome.Refused why) {
    return switch (why) {
      case UrlOutcome.Invalid(String end) -> "The URL " + end + ".";
      case UrlOutcome.NotAllowed _ ->
          "Your API key is for some types only, and the URL holds an ID of another one.";
      case UrlOutcome.Malformed _,
          UrlOutcome.Revoked _,
          UrlOutcome.Erased _,
          UrlOutcome.Unknown _,
          UrlOutcome.LegacyMalformed _,
          UrlOutcome.LegacyUnknown _,
          UrlOutcome.LegacyBrownout _ ->
          throw new IllegalStateException("read, not resolved: " + why);
    };
  }

  private static Answer page(int status, View view) {
    return Html.page(status, (out, none) -> JtelinksGenerated.render(out, none, view));
  }
}
