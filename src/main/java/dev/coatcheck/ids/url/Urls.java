package dev.coatcheck.ids.url;

import dev.coatcheck.ids.mapping.Mappings;
import dev.coatcheck.ids.redirect.Legacy;
import dev.coatcheck.ids.registry.Registry;

/** The verbs of this room, wired. */
public record Urls(UrlResolver resolver, UrlPublisher publisher, ProxiedUrls proxied) {

  public static Urls of(Mappings mappings, Legacy legacy, Registry registry) {
    UrlResolver resolver = new UrlResolver(mappings.resolver(), legacy.lookup(), registry);
    return new Urls(
        resolver,
        new UrlPublisher(mappings.lookup(), registry),
        new ProxiedUrls(resolver, legacy.redirector(), registry));
  }
}
