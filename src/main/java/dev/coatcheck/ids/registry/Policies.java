package dev.coatcheck.ids.registry;

import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.OlderSystem;
import java.util.List;
import java.util.Optional;

/**
 * All that may change about a type. What a caller leaves out falls back to its default.
 *
 * @param urlTemplates of URLs with its legacy IDs, each of which has one of the type; up to {@value
 *     #URL_TEMPLATES_MAX}
 */
public record Policies(
    Optional<Redirect> redirect,
    Optional<LegacyPolicy> legacy,
    List<LegacyUrlTemplate> urlTemplates,
    Optional<OlderSystem> olderSystem,
    OutagePolicy outage) {
  public static final int URL_TEMPLATES_MAX = 20;
  public static final Policies DEFAULT = redirecting(Optional.empty());

  public Policies {
    if (urlTemplates.size() > URL_TEMPLATES_MAX) {
      throw new IllegalArgumentException("URL templates: " + urlTemplates.size());
    }
    urlTemplates = List.copyOf(urlTemplates);
  }

  /** The defaults, but for the redirect. */
  public static Policies redirecting(Optional<Redirect> redirect) {
    return new Policies(
        redirect, Optional.empty(), List.of(), Optional.empty(), OutagePolicy.DEFAULT);
  }
}
