package dev.coatcheck.ids.url;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.mapping.Lookup;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.mapping.StoredMapping;
import dev.coatcheck.ids.mapping.TypedKey;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The reverse of {@link UrlResolver}: replaces the keys of a URL, for instance a {@code Location},
 * by public IDs. A key doesn't reveal its type, so a template names it.
 */
public final class UrlPublisher {
  private final Lookup lookup;
  private final Registry registry;

  public UrlPublisher(Lookup lookup, Registry registry) {
    this.lookup = lookup;
    this.registry = registry;
  }

  /**
   * Publishes a URL, with one query per table.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres can't be asked
   */
  public PublishOutcome publish(String url, String template, AllowedTypes allowed) {
    Optional<Template> form = Template.parse(template);
    if (form.isEmpty()) {
      return new PublishOutcome.InvalidTemplate();
    }
    return switch (UrlParts.parse(url)) {
      case UrlParts.Parsed.Invalid(String why) -> new PublishOutcome.InvalidUrl(why);
      case UrlParts.Parsed.Valid(UrlParts parts) -> publish(parts, form.get(), allowed);
    };
  }

  private PublishOutcome publish(UrlParts url, Template template, AllowedTypes allowed) {
    if (!template.typeNames().stream().allMatch(allowed::hold)) {
      return new PublishOutcome.TypeNotAllowed();
    }
    Optional<List<UrlSlice>> slices = template.match(url.segments(), url.wholeSegments());
    if (slices.isEmpty()) {
      return new PublishOutcome.InvalidUrl("has another path than the template");
    }
    List<Type> types = new ArrayList<>();
    List<TypedKey> keys = new ArrayList<>();
    for (int i = 0; i < slices.get().size(); i++) {
      Optional<Type> type = registry.named(template.typeNames().get(i));
      if (type.isEmpty()) {
        return new PublishOutcome.UnknownType();
      }
      Optional<Key> key = type.get().keyKind().parse(slices.get().get(i).text());
      if (key.isEmpty()) {
        return new PublishOutcome.MalformedKey(type.get());
      }
      types.add(type.get());
      keys.add(TypedKey.of(type.get(), key.get()));
    }
    Map<TypedKey, StoredMapping> found = lookup.byKey(keys.stream().distinct().toList());
    List<Mapping> ids = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      StoredMapping row = found.get(keys.get(i));
      if (row == null) {
        return new PublishOutcome.UnknownKey();
      }
      ids.add(row.of(types.get(i)));
    }
    return new PublishOutcome.Published(
        url.with(slices.get(), ids.stream().map(id -> id.publicId().toString()).toList()), ids);
  }

  /**
   * Which segment of a path holds a key of which type: {@code
   * /customers/{customer}/charges/{charge}}.
   */
  private record Template(List<Segment> segments) {
    private static final int LENGTH_MAX = 1_024;

    /**
     * What a segment of the path must be.
     *
     * @param text the segment, or the type of its key
     */
    record Segment(String text, boolean isKey) {}

    /** Parses a path of plain texts and at least one placeholder; empty if the text is none. */
    static Optional<Template> parse(String text) {
      if (text.length() > LENGTH_MAX || !text.startsWith("/")) {
        return Optional.empty();
      }
      List<Segment> segments = new ArrayList<>();
      for (String part : text.substring(1).split("/", -1)) {
        boolean braced = part.startsWith("{") && part.endsWith("}");
        String name = braced ? part.substring(1, part.length() - 1) : part;
        if (braced ? !Type.isName(name) : !part.matches("[!-~&&[^{}?#\\\\]]*")) {
          return Optional.empty();
        }
        segments.add(new Segment(name, braced));
      }
      return segments.stream().anyMatch(Segment::isKey)
          ? Optional.of(new Template(segments))
          : Optional.empty();
    }

    /**
     * The slices of the keys in a path of this form, in the order of the placeholders.
     *
     * @param path the segments of the path, each up to what may follow a key in it
     * @param whole the same segments in full, as the URL has them
     */
    Optional<List<UrlSlice>> match(List<UrlSlice> path, List<String> whole) {
      if (path.size() != segments.size()) {
        return Optional.empty();
      }
      List<UrlSlice> slices = new ArrayList<>();
      for (int i = 0; i < segments.size(); i++) {
        if (segments.get(i).isKey()) {
          slices.add(path.get(i));
        } else if (!segments.get(i).text().equals(whole.get(i))) {
          return Optional.empty();
        }
      }
      return Optional.of(slices);
    }

    List<String> typeNames() {
      return segments.stream().filter(Segment::isKey).map(Segment::text).toList();
    }
  }
}
