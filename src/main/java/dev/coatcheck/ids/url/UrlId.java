package dev.coatcheck.ids.url;

import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.redirect.LegacyId;
import dev.coatcheck.ids.registry.LegacyNumber;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** What a slice of a URL is taken for. */
sealed interface UrlId {
  /** A number in any spelling, of any script: some services read these as numbers. */
  Pattern NUMBER = Pattern.compile("[+-]?\\p{Nd}+");

  UrlSlice slice();

  /** It has the {@link IdShape shape} of a public ID. */
  record Public(UrlSlice slice) implements UrlId {}

  /** A URL template has a legacy ID there, and it is a number. */
  record Legacy(UrlSlice slice, LegacyId id) implements UrlId {}

  /** A URL template has a legacy ID there, and it is a number in another than the one spelling. */
  record MalformedLegacy(UrlSlice slice) implements UrlId {}

  /** The IDs of a URL, in its order. */
  static List<UrlId> in(UrlParts url, Registry registry) {
    List<UrlId> ids = new ArrayList<>();
    List<UrlSlice> segments = url.segments();
    List<LegacyUrlTemplate> templates = fitting(url, registry);
    for (int i = 0; i < segments.size(); i++) {
      UrlSlice segment = segments.get(i);
      Optional<UrlId> number = legacy(templates, i, segment, registry);
      if (number.isPresent()) {
        ids.add(number.get());
      } else if (IdShape.isOurs(segment.text(), registry)) {
        ids.add(new Public(segment));
      }
    }
    for (UrlSlice value : url.values()) {
      if (IdShape.isOurs(value.text(), registry)) {
        ids.add(new Public(value));
      }
    }
    return ids;
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
    if (number.isPresent()) {
      return Optional.of(new Legacy(segment, new LegacyId(type, number.getAsLong())));
    }
    String text =
        new String(segment.text().getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    return NUMBER.matcher(text).matches()
        ? Optional.of(new MalformedLegacy(segment))
        : Optional.empty();
  }
}
