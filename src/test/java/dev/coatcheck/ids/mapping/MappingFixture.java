package dev.coatcheck.ids.mapping;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.key.Snowflake;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.UuidV7;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.seal.TestSealKeys;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.ending.Endings;
import dev.coatcheck.ids.mint.MintCall;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.mint.Minter;
import dev.coatcheck.ids.registry.Policies;
import dev.coatcheck.ids.registry.PutConditions;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import dev.coatcheck.postgres.connection.DatabaseSettings;
import dev.coatcheck.postgres.sql.Database;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import tools.jackson.databind.json.JsonMapper;

/**
 * The mapping's verbs on a database of their own, with a bigint and a UUID type. One that is a
 * registered extension closes after its class.
 */
public final class MappingFixture implements AutoCloseable, AfterAllCallback {
  public static final TokenSource TOKENS = new TokenSource(new RandomSource());

  private static final int CONNECTIONS = 8;

  public final TestDatabase on;
  public final Observer observer = new Observer();
  public final Database database;
  public final ChangeFeed feed;
  public final Registry registry;
  public final Type charge;
  public final Type user;
  public final SealedRows sealedRows;
  public final Aliases aliases;
  public final Lookup lookup;
  public final Resolver resolver;
  public final Endings endings;
  public final Minter minter;

  public MappingFixture() {
    this(generators());
  }

  public MappingFixture(Function<Type, KeyGenerator> keys) {
    this(keys, TestDatabase.fresh(), System::nanoTime);
  }

  MappingFixture(Function<Type, KeyGenerator> keys, TestDatabase on, LongSupplier nanoTime) {
    this(keys, on, nanoTime, CONNECTIONS);
  }

  private MappingFixture(
      Function<Type, KeyGenerator> keys, TestDatabase on, LongSupplier nanoTime, int connections) {
    this.on = on;
    DatabaseSettings settings = on.settings(connections);
    database = Database.open(settings, "test", observer);
    feed = ChangeFeed.open(settings, observer, nanoTime, () -> nanoTime.getAsLong() / 1_000_000);
    registry =
        Registry.open(
            database, feed, TestSealKeys.ALL, new RandomSource(), observer, System::nanoTime);
    sealedRows = SealedRows.open(database, registry, feed, observer, InstantSource.system());
    charge = type("charge", "ch", KeyKind.BIGINT);
    user = type("user", "usr", KeyKind.UUID);
    aliases = new Aliases(database, feed, 1_000, 3);
    lookup = new Lookup(database, Optional.empty(), UnmappedRows.NONE, sealedRows);
    resolver = resolver(1_000);
    endings = new Endings(database, resolver);
    minter = Minter.open(database, registry, TOKENS, keys, sealedRows, observer, 4);
  }

  /** One whose pool is that small. */
  public static MappingFixture withConnections(int connections) {
    return new MappingFixture(generators(), TestDatabase.fresh(), System::nanoTime, connections);
  }

  /** Another resolver, with a cache of its own. */
  Resolver resolver(int cachedMax) {
    return new Resolver(
        new IdParser(registry), aliases, lookup, sealedRows, feed, observer, cachedMax, 3);
  }

  /** Texts as the resolver takes them. */
  List<IdText.OfRow> read(List<String> texts) {
    IdParser parser = new IdParser(registry);
    return texts.stream().map(text -> parser.parseOfRow(text, _ -> true)).toList();
  }

  /** Another instance on the same database. */
  MappingFixture beside() {
    return new MappingFixture(generators(), on, System::nanoTime);
  }

  public Type type(String name, String prefix, KeyKind kind) {
    registry.put(
        new TypeDefinition(name, new Prefix(prefix), kind, Policies.DEFAULT),
        PutConditions.NONE,
        Actor.operator());
    return registry.named(name).orElseThrow();
  }

  /** From now on nothing mints public IDs of the type. */
  public void retire(Type type) {
    registry.put(
        new TypeDefinition(
            type.name(),
            type.prefix(),
            type.keyKind(),
            type.generation(),
            type.policies(),
            Optional.empty(),
            Optional.empty(),
            true),
        PutConditions.NONE,
        Actor.operator());
  }

  /** A sealed type of the first seal key of tests. */
  public Type sealed(String name, String prefix, Instant from) {
    return sealed(name, prefix, from, "{}");
  }

  /** The same with the policies of a JSON object. */
  Type sealed(String name, String prefix, Instant from, String policies) {
    registry.put(
        new TypeDefinition(
            name,
            new Prefix(prefix),
            KeyKind.BIGINT,
            KeyGeneration.usual(KeyKind.BIGINT),
            Policies.read(
                JsonObject.of(new JsonMapper().readTree(policies)),
                name,
                KeyKind.BIGINT,
                RedirectHosts.any()),
            Optional.empty(),
            Optional.of(new TypeDefinition.SealedFrom(from, TestSealKeys.FIRST)),
            false),
        PutConditions.NONE,
        Actor.operator());
    return registry.named(name).orElseThrow();
  }

  /** Ends IDs of any type for a caller without an Idempotency-Key. */
  public Endings.Result end(List<Endings.Request> requests, Endings.Mode mode, Actor by) {
    return endings.end(requests, mode, by, AllowedTypes.ALL, Optional.empty());
  }

  /** Ends IDs as a client does on a machine that is too busy to answer in time. */
  public Endings.Result endUntilNotBusy(Endings.Request request) {
    Endings.Result result;
    do {
      result = end(List.of(request), Endings.Mode.EACH, Actor.operator());
    } while (result instanceof Endings.Result.Busy || result instanceof Endings.Result.Overloaded);
    return result;
  }

  public List<MintOutcome.Ticket> mint(MintRequest... requests) {
    return minted(minter.mint(MintCall.batch(List.of(requests))));
  }

  /** Mints as a client does on a machine that is too busy to answer in time. */
  public MintOutcome untilNotBusy(MintCall call) {
    MintOutcome outcome;
    do {
      outcome = minter.mint(call);
    } while (outcome instanceof MintOutcome.Busy || outcome instanceof MintOutcome.Overloaded);
    return outcome;
  }

  public static List<MintOutcome.Ticket> minted(MintOutcome outcome) {
    if (outcome instanceof MintOutcome.Minted(List<MintOutcome.Item> items)
        && items.stream().allMatch(MintOutcome.Ticket.class::isInstance)) {
      return items.stream().map(MintOutcome.Ticket.class::cast).toList();
    }
    throw new AssertionError(outcome);
  }

  public MintRequest request(long key) {
    return new MintRequest(charge, Optional.of(new Key.Bigint(key)));
  }

  public MintRequest generated(Type type) {
    return new MintRequest(type, Optional.empty());
  }

  public static Function<Type, KeyGenerator> generators() {
    KeyGenerator snowflake = new Snowflake(SnowflakeLayout.DEFAULT, 7);
    KeyGenerator uuids = new UuidV7();
    return type -> type.keyKind() == KeyKind.BIGINT ? snowflake : uuids;
  }

  @Override
  public void afterAll(ExtensionContext testClass) {
    close();
  }

  @Override
  public void close() {
    sealedRows.close();
    registry.close();
    feed.close();
    database.close();
  }
}
