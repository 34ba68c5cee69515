package dev.coatcheck.ids.url;

import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.LooseNumber;
import dev.coatcheck.ids.pattern.PublicRule;
import dev.coatcheck.ids.redirect.LegacyId;
import dev.coatcheck.ids.redirect.OlderId;
import dev.coatcheck.ids.registry.LegacyNumber;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** What a slice of a URL is taken for. */
sealed interface UrlId {
  UrlSlice slice();

  /** It has the {@link IdShape shape} of a public ID. */
  record Public(UrlSlice slice) implements UrlId {}

  /**
   * A URL template has a legacy ID there, and it is a number or a public ID of an older system that
   * the rule of the type decodes; or such a public ID with its text prefix, anywhere.
   */
  record Legacy(UrlSlice slice, OlderId id) implements UrlId {}

  /**
   * A URL template has a legacy ID there, and it is a {@linkplain LooseNumber number} in another
   * than the one spelling; or a number that could as well be a public ID of the older system.
   */
  record MalformedLegacy(UrlSlice slice) implements UrlId {}

  /** The IDs of a URL, in its order. */
  static List<UrlId> in(UrlParts url, Registry registry) {
    List<UrlId> ids = new ArrayList<>();
    List<UrlSlice> segments = url.segments();
    List<LegacyUrlTemplate> templates = fitting(url, registry);
    for (int i = 0; i < segments.size(); i++) {
      UrlSlice segment = segments.get(i);
      legacy(templates, i, segment, registry)
          .or(() -> anywhere(segment, registry))
          .ifPresent(ids::add);
    }
    for (UrlSlice value : url.values()) {
      anywhere(value, registry).ifPresent(ids::add);
    }
    return ids;
  }

  /** What shows by its text what it is. */
  private static Optional<UrlId> anywhere(UrlSlice slice, Registry registry) {
    if (IdShape.isOurs(slice.text(), registry)) {
      return Optional.of(new Public(slice));
    }
    return OlderId.decoded(slice.text(), registry)
        .filter(id -> id.type().publicRule().filter(PublicRule::isMarked).isPresent())
        .map(id -> new Legacy(slice, id));
  }

  /**
   * The URL templates that the path fits. Those that have a legacy ID where the path has a number
   * agree on it: templates that contradict each other are not registered.
   */
  static List<LegacyUrlTemplate> fitting(UrlParts url, Registry registry) {
    if (!registry.hasUrlTemplates()) {
      return List.of();
    }
    List<String> path = url.pathWithoutLastSlash();
    return registry.urlTemplates(path.size()).stream()
        .filter(template -> template.fits(path))
        .toList();
  }

  private static Optional<UrlId> legacy(
      List<LegacyUrlTemplate> templates, int at, UrlSlice segment, Registry registry) {
    return templates.stream()
        .flatMap(template -> template.typeAt(at).stream())
        .findFirst()
        .flatMap(registry::named)
        .flatMap(type -> legacy(type, segment));
  }

  private static Optional<UrlId> legacy(Type type, UrlSlice segment) {
    OptionalLong number = LegacyNumber.parse(segment.text());
    Optional<OlderId> decoded = OlderId.decoded(segment.text(), type);
    if (number.isPresent()) {
      return Optional.of(
          decoded.isPresent()
              ? new MalformedLegacy(segment)
              : new Legacy(segment, new LegacyId(type, number.getAsLong())));
    }
    if (decoded.isPresent()) {
      return Optional.of(new Legacy(segment, decoded.get()));
    }
    return LooseNumber.is(segment.unicodeText())
        ? Optional.of(new MalformedLegacy(segment))
        : Optional.empty();
  }
}
