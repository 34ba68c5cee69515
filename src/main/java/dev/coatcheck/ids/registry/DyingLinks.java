package dev.coatcheck.ids.registry;

import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.OlderSystem;
import dev.coatcheck.ids.pattern.PublicPattern;
import dev.coatcheck.ids.pattern.PublicRule;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Links that have a target today, and none after a change of their type.
 *
 * @param field of the type whose change ends them
 * @param detail says which links these are
 */
public record DyingLinks(String field, String detail) {

  /**
   * What a change of policies ends. A link whose target only changes lives on. What can't be told
   * without asking for each public ID counts as a loss: a lower {@code max_id}, a narrower pattern.
   *
   * @param elsewhere the URL templates of other types
   */
  static List<DyingLinks> between(
      Policies before, Policies after, Set<LegacyUrlTemplate> elsewhere, Instant now) {
    List<DyingLinks> dying = new ArrayList<>();
    boolean hadOpenUrls = isOpen(before, now) && hasUrls(before) && !hasPrivateRedirect(before);
    boolean hadLegacyLinks = hadOpenUrls || (isOpen(before, now) && hasRedirects(before));
    boolean hadServedUrls = hasUrls(before) && !isOver(before, now);
    if (hasRedirects(before) && !hasRedirects(after)) {
      dying.add(
          new DyingLinks(
              after.redirect().isPresent() ? "redirect.public" : "redirect",
              "Without a public redirect, /r/{id} and /legacy/{type}/{n} answer 404."));
    } else if (hadOpenUrls && hasPrivateRedirect(after)) {
      dying.add(
          new DyingLinks(
              "redirect.public",
              "While the redirect is private, proxies redirect no URLs with legacy IDs."));
    }
    if (hadLegacyLinks || hadServedUrls) {
      legacy(before, after, hadLegacyLinks, now).ifPresent(dying::add);
    }
    before.olderSystem().flatMap(older -> older(older, after)).ifPresent(dying::add);
    Set<LegacyUrlTemplate> removed = new HashSet<>(before.urlTemplates());
    after.urlTemplates().forEach(removed::remove);
    removed.removeAll(elsewhere);
    if (!removed.isEmpty()) {
      dying.add(
          new DyingLinks(
              "url_templates",
              "Numbers in the URLs of a removed URL template are no longer legacy IDs."));
    }
    return dying;
  }

  private static boolean hasRedirects(Policies policies) {
    return policies.redirect().filter(Redirect::isPublic).isPresent();
  }

  private static boolean hasPrivateRedirect(Policies policies) {
    return policies.redirect().filter(redirect -> !redirect.isPublic()).isPresent();
  }

  /** Whether URLs can hold older IDs of the type. */
  private static boolean hasUrls(Policies policies) {
    return !policies.urlTemplates().isEmpty()
        || policies
            .olderSystem()
            .filter(older -> older instanceof PublicRule rule && rule.isMarked())
            .isPresent();
  }

  private static boolean isOpen(Policies policies, Instant now) {
    return policies.legacy().filter(LegacyPolicy::isPublic).isPresent() && !isOver(policies, now);
  }

  private static boolean isOver(Policies policies, Instant now) {
    return policies.legacy().filter(legacy -> legacy.isOver(now)).isPresent();
  }

  /**
   * What ends links with legacy IDs. Proxies serve their URLs without the policy too, but not after
   * a sunset and not above {@code max_id}.
   */
  private static Optional<DyingLinks> legacy(
      Policies before, Policies after, boolean hadLegacyLinks, Instant now) {
    if (isOver(after, now)) {
      return Optional.of(
          new DyingLinks(
              "legacy.sunset_at", "After the sunset, links with legacy IDs answer 410."));
    }
    if (maxId(after) < maxId(before)) {
      return Optional.of(
          new DyingLinks("legacy.max_id", "Links with legacy IDs above max_id answer 404."));
    }
    if (!hadLegacyLinks || isOpen(after, now)) {
      return Optional.empty();
    }
    return Optional.of(
        new DyingLinks(
            after.legacy().isPresent() ? "legacy.public" : "legacy",
            "Without public legacy IDs, links with legacy IDs answer 404."));
  }

  private static long maxId(Policies policies) {
    return policies
        .legacy()
        .map(LegacyPolicy::maxId)
        .orElseGet(OptionalLong::empty)
        .orElse(Long.MAX_VALUE);
  }

  private static Optional<DyingLinks> older(OlderSystem before, Policies after) {
    Optional<OlderSystem> next = after.olderSystem();
    boolean isKept =
        switch (before) {
          case PublicRule rule -> next.filter(rule::equals).isPresent();
          case PublicPattern pattern ->
              next.filter(
                      system ->
                          system instanceof PublicPattern wider
                              && wider.shape().covers(pattern.shape()))
                  .isPresent();
        };
    return isKept
        ? Optional.empty()
        : Optional.of(
            new DyingLinks(
                before.field(),
                switch (before) {
                  case PublicRule _ -> "Older public IDs by the rule before are no longer decoded.";
                  case PublicPattern _ ->
                      "Older public IDs that only the pattern before describes are no longer"
                          + " found.";
                }));
  }
}
