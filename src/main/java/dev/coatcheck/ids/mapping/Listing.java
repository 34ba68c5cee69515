package dev.coatcheck.ids.mapping;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyBounds;
import dev.coatcheck.ids.registry.Type;
import java.util.List;
import java.util.Optional;

/** Pages through the public IDs of a type, newest key first, along an index. */
public final class Listing {
  private final MappingStore store;

  Listing(MappingStore store) {
    this.store = store;
  }

  /**
   * A stretch of the list.
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
   * The newest mappings, or those older than a key.
   *
   * @param within the keys to look among; empty for all
   * @param after the last key of the page before
   */
  public Page page(Type type, Optional<KeyBounds> within, Optional<Key> after, int mappingsMax) {
    List<Mapping> rows =
        store.newest(type, within, after, mappingsMax + 1).stream()
            .map(row -> row.of(type))
            .toList();
    return new Page(rows.subList(0, Math.min(rows.size(), mappingsMax)), rows.size() > mappingsMax);
  }
}
