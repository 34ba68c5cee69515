package dev.coatcheck.ids.url;

import dev.coatcheck.core.key.Key;
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
 * The reverse of {@link UrlResolver}: puts public IDs instead of the keys of a URL, a {@code
 * Location} for instance. A key doesn't show its type, so a template says it.
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
}
