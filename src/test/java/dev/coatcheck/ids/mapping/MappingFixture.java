package dev.coatcheck.ids.mapping;

import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.key.Snowflake;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.UuidV7;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.core.seal.TestSealKeys;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.ending.Endings;
import dev.coatcheck.ids.ending.EraseOutcome;
import dev.coatcheck.ids.ending.Erasures;
import dev.coatcheck.ids.mint.MintCall;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.mint.Minter;
import dev.coatcheck.ids.registry.PutConditions;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.TestType;
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
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

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

  public ResolveOutcome resolve(String id) {
    return resolver.resolve(id, AllowedTypes.ALL);
  }

  public ResolveOutcome resolve(Mapping mapping) {
    return resolve(mapping.publicId().toString());
  }

  /** Until the rows of a sealed type are known, and the ID has none. */
  void awaitNoRow(Type type, Token token) {
    Awaitility.await().until(() -> sealedRows.haveNone(TypedToken.of(type, token)));
  }

  /** What an instance with other seal keys knows, which hears of no change of types. */
  public record Behind(Registry registry, SealedRows rows, Lookup lookup, Resolver resolver)
      implements AutoCloseable {
    @Override
    public void close() {
      rows.close();
      registry.close();
    }
  }

  public Behind behind(SealKeys keys) {
    Registry types =
        Registry.open(
            database, ChangeFeed.none(), keys, new RandomSource(), observer, System::nanoTime);
    SealedRows rows = SealedRows.open(database, types, feed, observer, InstantSource.system());
    Lookup look = new Lookup(database, Optional.empty(), UnmappedRows.NONE, rows);
    return new Behind(
        types,
        rows,
        look,
        new Resolver(new IdParser(types), aliases, look, rows, feed, observer, 100, 3));
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
    TestType type = TestType.of(name, prefix);
    return put(kind == KeyKind.UUID ? type.uuids() : type);
  }

  /** Creates or changes a type. */
  public Type put(TestType type) {
    return put(type.definition());
  }

  private Type put(TypeDefinition definition) {
    registry.put(definition, PutConditions.NONE, Actor.operator());
    return registry.named(definition.name()).orElseThrow();
  }

  /** From now on nothing mints public IDs of the type. */
  public void retire(Type type) {
    var _ =
        put(
            new TypeDefinition(
                type.name(),
                type.prefix(),
                type.keyKind(),
                type.generation(),
                type.policies(),
                Optional.empty(),
                Optional.empty(),
                true));
  }

  /** A sealed type of the first seal key of tests. */
  public Type sealed(String name, String prefix, Instant from) {
    return sealed(name, prefix, from, "{}");
  }

  /** The same with the policies of a JSON object. */
  Type sealed(String name, String prefix, Instant from, String policies) {
    TypeDefinition rest = TestType.of(name, prefix).and(policies).definition();
    return put(
        new TypeDefinition(
            name,
            rest.prefix(),
            rest.keyKind(),
            rest.generation(),
            rest.policies(),
            Optional.empty(),
            Optional.of(new TypeDefinition.SealedFrom(from, TestSealKeys.FIRST)),
            false));
  }

  /** Ends IDs of any type for a caller without an Idempotency-Key. */
  public Endings.Result end(List<Endings.Request> requests, Endings.Mode mode, Actor by) {
    return endings.end(requests, mode, by, AllowedTypes.ALL, Optional.empty());
  }

  /** Ends IDs as a client does on a machine that is too busy to answer in time. */
  public Endings.Result endUntilNotBusy(Endings.Request request) {
    Endings.Result result;
    do {
      result = end(request);
    } while (result instanceof Endings.Result.Busy || result instanceof Endings.Result.Overloaded);
    return result;
  }

  public Endings.Result end(Endings.Request request) {
    return end(List.of(request), Endings.Mode.EACH, Actor.operator());
  }

  /** Erases an ID that the resolver finds. */
  public EraseOutcome erase(Resolver from, String id, boolean cascade) {
    return new Erasures(database, from, aliases)
        .erase(id, cascade, AllowedTypes.ALL, Actor.operator());
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

  public Mapping minted(Type type) {
    return mint(generated(type)).getFirst().mapping();
  }

  public Mapping minted(Type type, Key key) {
    return mint(new MintRequest(type, Optional.of(key))).getFirst().mapping();
  }

  public MintRequest request(long key) {
    return new MintRequest(charge, Optional.of(new Key.Bigint(key)));
  }

  public MintRequest generated(Type type) {
    return new MintRequest(type, Optional.empty());
  }

  /** How many statements about public IDs, whatever they are for, the gateway has sent. */
  long statementsOnIds() {
    return on.sql()
        .number(
            """
            select coalesce(sum(calls), 0) from pg_stat_statements
             where dbid = (select oid from pg_database where datname = current_database())
               and query ~ 'coatcheck"?\\."?(public_id|alias|ending|pinned|erasure|erased|idempotency)'
               and query !~ 'pg_stat_statements|^select count\\('
               -- Filters read all rows when a type is new.
               and query !~ 'order by type_id, key limit'
            """);
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
