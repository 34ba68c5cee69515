package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.ids.registry.Type;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The reverse of resolving: from keys to public IDs. Nothing is cached. */
public final class Lookup {
  private final MappingStore store;

  Lookup(MappingStore store) {
    this.store = store;
  }

  public Optional<Mapping> find(Type type, Key key) {
    return findAll(type, List.of(key)).getFirst();
  }

  /** The mappings of the keys, in their order; empty where a key has no public ID. */
  public List<Optional<Mapping>> findAll(Type type, List<Key> keys) {
    List<TypedKey> subjects = keys.stream().map(key -> TypedKey.of(type, key)).toList();
    Map<TypedKey, StoredMapping> rows = store.byKey(subjects.stream().distinct().toList());
    return subjects.stream()
        .map(subject -> Optional.ofNullable(rows.get(subject)).map(row -> row.of(type)))
        .toList();
  }
}
