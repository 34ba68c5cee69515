package dev.coatcheck.mapping;

import dev.coatcheck.db.Database;
import dev.coatcheck.id.TokenSource;
import dev.coatcheck.key.KeyGenerator;
import dev.coatcheck.observe.Observer;
import dev.coatcheck.registry.Registry;
import dev.coatcheck.registry.Type;
import java.util.function.Function;

/** The verbs of this room, wired on one store. */
public record Mappings(
    Minter minter, Resolver resolver, Lookup lookup, Listing listing, Endings endings) {

  /**
   * Wires them.
   *
   * @param keys the generator of a type's keys
   * @param cachedMappingsMax how many resolved public IDs stay in memory, about 250 bytes each
   */
  public static Mappings open(
      Database database,
      Registry registry,
      TokenSource tokens,
      Function<Type, KeyGenerator> keys,
      Observer observer,
      int cachedMappingsMax) {
    MappingStore store = new MappingStore(database, tokens::next);
    EndingStore endings = new EndingStore(database);
    Resolver resolver =
        new Resolver(
            new Resolver.Stores(store, endings, new AliasStore(database)),
            registry,
            observer,
            cachedMappingsMax);
    return new Mappings(
        new Minter(store, keys, observer),
        resolver,
        new Lookup(store),
        new Listing(store),
        new Endings(endings, resolver));
  }
}
