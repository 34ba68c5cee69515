package dev.coatcheck.mapping;

import dev.coatcheck.db.Database;
import dev.coatcheck.id.TokenSource;
import dev.coatcheck.key.KeyGenerator;
import dev.coatcheck.key.Waiter;
import dev.coatcheck.observe.Observer;
import dev.coatcheck.registry.Registry;
import dev.coatcheck.registry.Type;
import java.util.function.Function;

/** The verbs of this room, wired on one store. */
public record Mappings(
    Minter minter,
    Resolver resolver,
    Lookup lookup,
    Listing listing,
    Aliases aliases,
    Endings endings) {

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
    MappingStore store = new MappingStore(database);
    AliasStore aliases = new AliasStore(database, store);
    EndingStore endings = new EndingStore(database);
    MintStore mints =
        new MintStore(database, store, aliases, tokens::next, new KeyDraws(keys, observer));
    Resolver resolver =
        new Resolver(
            new Resolver.Stores(store, endings, aliases), registry, observer, cachedMappingsMax);
    return new Mappings(
        new Minter(mints, observer, Waiter.PARKING),
        resolver,
        new Lookup(store),
        new Listing(store),
        new Aliases(aliases),
        new Endings(endings, resolver));
  }
}
