package dev.coatcheck.ids.url;

import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.ParsedId.Reason;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.mapping.IdText;
import dev.coatcheck.ids.mapping.OlderId;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.pattern.LegacyUrlTemplate;
import dev.coatcheck.ids.pattern.LooseNumber;
import dev.coatcheck.ids.pattern.PublicRule;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** The kind of ID that a slice of a URL may be. */
sealed interface UrlId {
  UrlSlice slice();

  /**
   * It has the shape of a public ID: the prefix of a type, an underscore, 24 letters and digits.
   */
  record Public(UrlSlice slice, IdText.OfRow text) implements UrlId {}

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

  /**
   * Whether the URL holds no ID of another type. A number where the URL template of another type
   * has a legacy ID is one, and so is each text that could be a public ID: it is refused whether
   * any type has its prefix or not. An older public ID of another type is like any other text.
   */
  static boolean areAllowed(UrlParts url, Registry registry, AllowedTypes allowed) {
    if (allowed.areAll()) {
      return true;
    }
    List<UrlSlice> segments = url.segments();
    for (LegacyUrlTemplate template : fitting(url, registry)) {
      for (int i = 0; i < segments.size(); i++) {
        UrlSlice segment = segments.get(i);
        if (template
            .typeAt(i)
            .flatMap(registry::named)
            .filter(type -> !allowed.hold(type))
            .flatMap(type -> legacy(type, segment))
            .isPresent()) {
          return false;
        }
      }
    }
    return Stream.concat(segments.stream(), url.values().stream())
        .allMatch(
            slice ->
                !(PublicId.parse(slice.text()) instanceof ParsedId.Valid(PublicId id))
                    || registry.withPrefix(id.prefix()).filter(allowed::hold).isPresent());
  }

  /**
   * The IDs of a URL, in its order.
   *
   * @param parse of a text that may be an ID of an allowed type
   */
  static List<UrlId> in(UrlParts url, Registry registry, Function<String, IdText> parse) {
    List<UrlId> ids = new ArrayList<>();
    List<UrlSlice> segments = url.segments();
    List<LegacyUrlTemplate> templates = fitting(url, registry);
    for (int i = 0; i < segments.size(); i++) {
      UrlSlice segment = segments.get(i);
      int at = i;
      templates.stream()
          .flatMap(template -> template.typeAt(at).stream())
          .findFirst()
          .flatMap(registry::named)
          .flatMap(type -> legacy(type, segment))
          .or(() -> anywhere(segment, registry, parse))
          .ifPresent(ids::add);
    }
    for (UrlSlice value : url.values()) {
      anywhere(value, registry, parse).ifPresent(ids::add);
    }
    return ids;
  }

  /**
   * The URL templates that fit the path. Where several have a legacy ID in one place they agree on
   * its type, because contradicting templates are not registered.
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

  private static Optional<UrlId> legacy(Type type, UrlSlice segment) {
    return OlderId.read(segment.text(), type)
        .<UrlId>map(id -> new Legacy(segment, id))
        .or(
            () ->
                LooseNumber.is(segment.unicodeText())
                    ? Optional.of(new MalformedLegacy(segment))
                    : Optional.empty());
  }

  /** An ID that its text alone identifies. */
  private static Optional<UrlId> anywhere(
      UrlSlice slice, Registry registry, Function<String, IdText> parse) {
    return switch (parse.apply(slice.text())) {
      case IdText.OfRule(OlderId id) ->
          id.type()
              .publicRule()
              .filter(PublicRule::isMarked)
              .<UrlId>map(_ -> new Legacy(slice, id));
      case IdText.OfToken text -> Optional.of(new Public(slice, text));
      case IdText.Unissued text when isNearlyOurs(slice.text(), text, registry) ->
          Optional.of(new Public(slice, text));
      // Aliases are looked up later, so none is known to be erased yet.
      case IdText.OfPattern _, IdText.OfErased _, IdText.Unissued _ -> Optional.empty();
    };
  }

  /** Whether only the payload or the check characters are wrong. */
  private static boolean isNearlyOurs(String text, IdText.Unissued unissued, Registry registry) {
    return unissued.outcome() instanceof ResolveOutcome.Malformed(Reason reason, int _)
        && (reason == Reason.CHECK || reason == Reason.OVERFLOW)
        && registry.knows(new Prefix(text.substring(0, text.lastIndexOf('_'))));
  }
}
