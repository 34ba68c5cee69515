package dev.coatcheck.ids.mapping;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.postgres.sql.Database;
import java.util.List;

/** The verbs of this room, wired on one store. */
public record Mappings(Resolver resolver, Lookup lookup, Listing listing, Aliases aliases) {
  /** Where rows lie whose keys may not have a public ID yet: the tables of migrations. */
  public interface KeySource {
    /** For a gateway without table migrations. */
    KeySource NONE =
        new KeySource() {
          @Override
          public boolean mayHave(int typeNumber) {
            return false;
          }

          @Override
          public void publish(int typeNumber, List<Key> keys) {}
        };

    /** Whether rows of the type may lie there; never queries. */
    boolean mayHave(int typeNumber);

    /**
     * Gives a public ID to those of the keys that a row has.
     *
     * @throws dev.coatcheck.postgres.sql.DatabaseUnavailable if that can't be found out now
     */
    void publish(int typeNumber, List<Key> keys);
  }

  /**
   * Wires them.
   *
   * @param feed says how long what was resolved may be trusted
   * @param rows is asked for keys without a public ID
   * @param cachedMappingsMax how many resolved public IDs stay in memory, about 320 bytes each, and
   *     how many aliases, about as large
   * @param groupsMax how many statements read single public IDs at a time, in each of the two
   *     tables, and single aliases
   */
  public static Mappings open(
      Database database,
      Registry registry,
      ChangeFeed feed,
      KeySource rows,
      Observer observer,
      int cachedMappingsMax,
      int groupsMax) {
    MappingStore store = new MappingStore(database, rows, groupsMax);
    Aliases aliases = new Aliases(database, feed, cachedMappingsMax, groupsMax);
    return new Mappings(
        new Resolver(store, new IdParser(registry, aliases), feed, observer, cachedMappingsMax),
        new Lookup(store),
        new Listing(store),
        aliases);
  }
}
