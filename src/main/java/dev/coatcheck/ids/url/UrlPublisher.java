package dev.coatcheck.ids.url;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.mapping.Lookup;
import dev.coatcheck.ids.mapping.Mapping;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The reverse of {@link UrlResolver}: puts public IDs instead of the keys of a URL, a {@code
 * Location} for instance. A key doesn't show its type, so a template says it.
 */
public final class UrlPublisher {
  private final Lookup lookup;
  private final Registry registry;

  UrlPublisher(Lookup lookup, Registry registry) {
    this.lookup = lookup;
    this.registry = registry;
  }

  /** A key and what it is a key of. */
  private record Named(Type type, Key key) {}

  /**
   * Publishes a URL, with one query per type.
   *
   * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if Postgres can't be asked
   */
  public PublishOutcome publish(String url, String template) {
    Optional<UrlTemplate> form = UrlTemplate.parse(template);
    if (form.isEmpty()) {
      return new PublishOutcome.InvalidTemplate();
    }
    return switch (UrlParts.parse(url)) {
      case ParsedUrl.Invalid(String why) -> new PublishOutcome.InvalidUrl(why);
      case ParsedUrl.Valid(UrlParts parts) -> publish(parts, form.get());
    };
  }

  private PublishOutcome publish(UrlParts url, UrlTemplate template) {
    Optional<List<UrlSlice>> slices = template.match(url.segments(), url.wholeSegments());
    if (slices.isEmpty()) {
      return new PublishOutcome.InvalidUrl("has another path than the template");
    }
    List<Named> named = new ArrayList<>();
    for (int i = 0; i < slices.get().size(); i++) {
      Optional<Type> type = registry.named(template.typeNames().get(i));
      if (type.isEmpty()) {
        return new PublishOutcome.UnknownType();
      }
      Optional<Key> key = type.get().keyKind().parse(slices.get().get(i).text());
      if (key.isEmpty()) {
        return new PublishOutcome.MalformedKey(type.get());
      }
      named.add(new Named(type.get(), key.get()));
    }
    Map<Named, Mapping> found = find(named);
    List<Mapping> ids = new ArrayList<>();
    for (Named each : named) {
      Mapping mapping = found.get(each);
      if (mapping == null) {
        return new PublishOutcome.UnknownKey();
      }
      ids.add(mapping);
    }
    return new PublishOutcome.Published(
        url.with(slices.get(), ids.stream().map(id -> id.publicId().toString()).toList()), ids);
  }

  private Map<Named, Mapping> find(List<Named> named) {
    Map<Type, List<Key>> byType = new LinkedHashMap<>();
    named.forEach(
        each -> byType.computeIfAbsent(each.type(), _ -> new ArrayList<>()).add(each.key()));
    Map<Named, Mapping> found = new HashMap<>();
    byType.forEach(
        (type, keys) -> {
          List<Optional<Mapping>> mappings = lookup.findAll(type, keys);
          for (int i = 0; i < keys.size(); i++) {
            Named each = new Named(type, keys.get(i));
            mappings.get(i).ifPresent(mapping -> found.put(each, mapping));
          }
        });
    return found;
  }
}
