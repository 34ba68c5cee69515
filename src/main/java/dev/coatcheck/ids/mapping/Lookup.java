package dev.coatcheck.ids.mapping;

import dev.coatcheck.cluster.change.Replica;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyBounds;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.postgres.sql.Database;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The reverse of resolving: finds the public IDs of keys, and lists them. Caches nothing. */
public final class Lookup {
  /** Counting more takes long. */
  private static final int COUNTED_MAX = 1_000;

  private final MappingStore store;
  private final UnmappedRows rows;
  private final SealedRows sealed;

  /**
   * Looks up keys.
   *
   * @param replica is asked before the primary
   * @param rows are asked for keys without a public ID
   */
  public Lookup(
      Database database, Optional<Replica> replica, UnmappedRows rows, SealedRows sealed) {
    this.store = new MappingStore(database, replica);
    this.rows = rows;
    this.sealed = sealed;
  }

  /** What reads the rows, from the primary or a replica. */
  MappingStore store() {
    return store;
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
   * migration that waits for its public ID gets it now. Every key of a sealed type has one, until
   * the type is retired.
   *
   * @throws dev.coatcheck.core.seal.SealKeyMissing if this instance lacks a seal key
   */
  public Map<TypedKey, StoredMapping> byKey(List<TypedKey> subjects) {
    Map<TypedKey, StoredMapping> computed = sealed.computed(subjects);
    if (computed.isEmpty()) {
      return stored(subjects);
    }
    Map<TypedKey, StoredMapping> found = new HashMap<>(computed);
    List<TypedKey> asked =
        subjects.stream()
            .filter(
                subject -> {
                  StoredMapping mapping = computed.get(subject);
                  return mapping == null || !sealed.haveNone(mapping.id());
                })
            .toList();
    if (!asked.isEmpty()) {
      found.putAll(stored(asked));
    }
    return found;
  }

  private Map<TypedKey, StoredMapping> stored(List<TypedKey> subjects) {
    Map<TypedKey, StoredMapping> found = new HashMap<>(store.byKey(subjects));
    List<TypedKey> pinnable = new ArrayList<>(sealed.ofClosedEras(subjects));
    pinnable.removeAll(found.keySet());
    if (!pinnable.isEmpty()) {
      found.putAll(store.pinned(pinnable));
    }
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
   * How many public IDs a type has.
   *
   * @param isExact false if there are more than {@value #COUNTED_MAX}: then it is an estimate of
   *     Postgres
   */
  public record Count(long number, boolean isExact) {}

  /** How many public IDs each type has, by the numbers of the types; an estimate for many. */
  public Map<Integer, Count> counts(List<Type> types) {
    return store.counts(types, COUNTED_MAX);
  }

  /** Public IDs that were merged into {@code survivor}, the latest first. */
  public List<PublicId> mergedInto(Mapping survivor, int idsMax) {
    Type type = survivor.type();
    return store.mergedInto(TypedToken.of(type, survivor.token()), idsMax).stream()
        .map(ending -> new PublicId(type.prefix(), ending.id().token()))
        .toList();
  }

  /**
   * A page of the list, newest first.
   *
   * @param hasMore whether more follow, away from the cursor
   */
  public record Page(List<Mapping> mappings, boolean hasMore) {
    public static final Page EMPTY = new Page(List.of(), false);

    public Page {
      mappings = List.copyOf(mappings);
    }
  }

  /**
   * What to list of a type.
   *
   * @param within the keys to look among; empty for all
   */
  public record Filter(Optional<KeyBounds> within, Optional<Mapping.Status> status) {
    public static final Filter NONE = new Filter(Optional.empty(), Optional.empty());
  }

  /**
   * Where a page borders on the one that was read before.
   *
   * @param isEnd whether the page ends before the key, and so has newer mappings
   */
  public record Cursor(Key key, boolean isEnd) {}

  /** The newest mappings of a type, or those next to a cursor, newest first, along an index. */
  public Page page(Type type, Filter filter, Optional<Cursor> cursor, int mappingsMax) {
    List<Mapping> found =
        store.next(type, filter, cursor, mappingsMax + 1).stream()
            .map(row -> row.of(type))
            .toList();
    List<Mapping> page = found.subList(0, Math.min(found.size(), mappingsMax));
    return new Page(
        cursor.filter(Cursor::isEnd).isPresent() ? page.reversed() : page,
        found.size() > mappingsMax);
  }
}
