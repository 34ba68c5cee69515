package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyBounds;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.Database;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The reverse of resolving: finds the public IDs of keys, and lists them. Caches nothing. */
public final class Lookup {
  private final MappingStore store;
  private final UnmappedRows rows;

  /**
   * Looks up keys.
   *
   * @param rows are asked for keys without a public ID
   */
  public Lookup(Database database, UnmappedRows rows) {
    this.store = new MappingStore(database);
    this.rows = rows;
  }

  public Optional<Mapping> find(Type type, Key key) {
    return findAll(type, List.of(key)).getFirst();
  }

  /** The mappings of the keys, in their order; empty where a key has no public ID. */
  public List<Optional<Mapping>> findAll(Type type, List<Key> keys) {
    List<TypedKey> subjects = keys.stream().map(key -> TypedKey.of(type, key)).toList();
    Map<TypedKey, StoredMapping> found = byKey(subjects.stream().distinct().toList());
    return subjects.stream()
        .map(subject -> Optional.ofNullable(found.get(subject)).map(row -> row.of(type)))
        .toList();
  }

  /**
   * The mappings of those subjects that have one; the list has no duplicates. A row of a table
   * migration that waits for its public ID gets it now.
   */
  public Map<TypedKey, StoredMapping> byKey(List<TypedKey> subjects) {
    Map<TypedKey, StoredMapping> found = store.byKey(subjects);
    List<TypedKey> missing =
        subjects.stream()
            .filter(one -> rows.mayHave(one.typeNumber()) && !found.containsKey(one))
            .toList();
    if (missing.isEmpty()) {
      return found;
    }
    missing.stream()
        .collect(
            Collectors.groupingBy(
                TypedKey::typeNumber, Collectors.mapping(TypedKey::key, Collectors.toList())))
        .forEach(rows::publish);
    // Includes those that another session has committed meanwhile.
    Map<TypedKey, StoredMapping> all = new HashMap<>(found);
    all.putAll(store.byKey(missing));
    return all;
  }

  /**
   * A page of the list.
   *
   * @param hasMore whether older ones follow
   */
  public record Page(List<Mapping> mappings, boolean hasMore) {
    public static final Page EMPTY = new Page(List.of(), false);

    public Page {
      mappings = List.copyOf(mappings);
    }
  }

  /**
   * The newest mappings of a type, or those older than a key, along an index.
   *
   * @param within the keys to look among; empty for all
   * @param after the last key of the page before
   */
  public Page page(Type type, Optional<KeyBounds> within, Optional<Key> after, int mappingsMax) {
    List<Mapping> newest =
        store.newest(type, within, after, mappingsMax + 1).stream()
            .map(row -> row.of(type))
            .toList();
    return new Page(
        newest.subList(0, Math.min(newest.size(), mappingsMax)), newest.size() > mappingsMax);
  }
}
