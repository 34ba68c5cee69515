package dev.coatcheck.ids.mapping;

import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.postgres.sql.Database;

/** The verbs of this room, wired on one store. */
public record Mappings(Resolver resolver, Lookup lookup, Listing listing, Aliases aliases) {

  /**
   * Wires them.
   *
   * @param feed says how long what was resolved may be trusted
   * @param cachedMappingsMax how many resolved public IDs stay in memory, about 320 bytes each, and
   *     how many aliases, about as large
   * @param groupsMax how many statements read single public IDs at a time, in each of the two
   *     tables, and single aliases
   */
  public static Mappings open(
      Database database,
      Registry registry,
      ChangeFeed feed,
      Observer observer,
      int cachedMappingsMax,
      int groupsMax) {
    MappingStore store = new MappingStore(database, groupsMax);
    Aliases aliases = new Aliases(database, feed, cachedMappingsMax, groupsMax);
    return new Mappings(
        new Resolver(store, new IdParser(registry, aliases), feed, observer, cachedMappingsMax),
        new Lookup(store),
        new Listing(store),
        aliases);
  }
}
