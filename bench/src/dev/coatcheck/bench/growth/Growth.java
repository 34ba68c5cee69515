package dev.coatcheck.bench.growth;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.OpenDatabase;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.bench.speed.Progress;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.key.KeyReservation;
import dev.coatcheck.core.key.Positions;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.Waiter;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.ids.access.AllowedTypes;
import dev.coatcheck.ids.alias.Aliases;
import dev.coatcheck.ids.mapping.IdParser;
import dev.coatcheck.ids.mapping.Lookup;
import dev.coatcheck.ids.mapping.ResolveOutcome;
import dev.coatcheck.ids.mapping.Resolver;
import dev.coatcheck.ids.mapping.SealedRows;
import dev.coatcheck.ids.mapping.UnmappedRows;
import dev.coatcheck.ids.mint.MintCall;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.mint.Minter;
import dev.coatcheck.ids.registry.Policies;
import dev.coatcheck.ids.registry.PutConditions;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * P14 and P15: what a mapping takes and how long its mint and its resolve last, at growing numbers
 * of them. One caller calls the verbs in this process, without HTTP; nothing is cached but what
 * Postgres and the system cache.
 */
public final class Growth implements AutoCloseable {
  private static final int TIMED = 4_000;
  private static final int WARMING = 2_000;

  /** Enough that few are asked for twice. */
  private static final int SAMPLE = 100_000;

  private static final String TYPE = "bench";
  private static final String SECRET = "5".repeat(64);

  private final Storage storage;
  private final OpenDatabase opened;
  private final ChangeFeed feed;
  private final Registry registry;
  private final SealedRows sealedRows;
  private final Minter minter;
  private final Resolver resolver;
  private final GrowthStore store;
  private final Type type;
  private final SplittableRandom random = new SplittableRandom(17);
  private final List<String> sample = new ArrayList<>(SAMPLE);
  private long rows;

  private Growth(Storage storage, Config config, Path folder) throws StartFailed, IOException {
    this.storage = storage;
    Observer observer = new Observer();
    SealKeys sealKeys = sealKeys(folder);
    this.opened = OpenDatabase.open(config, observer);
    this.store = new GrowthStore(opened.database());
    if (storage == Storage.PARTITIONED) {
      store.partition();
    }
    this.feed =
        ChangeFeed.open(opened.settings(), observer, System::nanoTime, System::currentTimeMillis);
    this.registry =
        Registry.open(
            opened.database(), feed, sealKeys, new RandomSource(), observer, System::nanoTime);
    this.type = type(sealKeys);
    this.sealedRows =
        SealedRows.open(opened.database(), registry, feed, observer, InstantSource.system());
    Aliases aliases = new Aliases(opened.database(), feed, 1, 3);
    this.resolver =
        new Resolver(
            new IdParser(registry),
            aliases,
            new Lookup(opened.database(), Optional.empty(), UnmappedRows.NONE, sealedRows),
            sealedRows,
            feed,
            observer,
            0,
            3);
    KeyGenerator keys = keys();
    this.minter =
        Minter.open(
            opened.database(),
            registry,
            new TokenSource(new RandomSource()),
            _ -> keys,
            sealedRows,
            observer,
            4);
  }

  /**
   * Mints up to each of the sizes, and measures there.
   *
   * @param config of an empty database
   * @param folder for a file of the run
   * @param sizes rising
   */
  public static List<GrowthStep> measure(
      Storage storage, Config config, Path folder, List<Long> sizes, Progress progress)
      throws StartFailed, IOException {
    try (Growth growth = new Growth(storage, config, folder)) {
      List<GrowthStep> steps = new ArrayList<>();
      for (long size : sizes) {
        growth.mintUpTo(size, progress);
        steps.add(growth.step());
      }
      return steps;
    }
  }

  private static SealKeys sealKeys(Path folder) throws IOException {
    Path file =
        Files.createTempFile(
            folder,
            "seal",
            ".keys",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(file, SECRET);
    return switch (SealKeys.read(file)) {
      case SealKeys.Parsed.Valid(SealKeys keys) -> keys;
      case SealKeys.Parsed.Faulty(String fault) -> throw new IOException(fault);
    };
  }

  private Type type(SealKeys sealKeys) {
    Optional<TypeDefinition.SealedFrom> sealed =
        storage == Storage.SEALED
            ? Optional.of(
                new TypeDefinition.SealedFrom(Instant.EPOCH, sealKeys.fingerprints().getFirst()))
            : Optional.empty();
    registry.put(
        new TypeDefinition(
            TYPE,
            new Prefix(TYPE),
            KeyKind.BIGINT,
            KeyGeneration.usual(KeyKind.BIGINT),
            Policies.DEFAULT,
            Optional.empty(),
            sealed,
            false),
        PutConditions.NONE,
        Actor.operator());
    return registry.named(TYPE).orElseThrow();
  }

  /** Keys in their order, from the first one of the default layout on. */
  public static KeyGenerator keys() {
    Positions positions = new Positions(-1);
    return wanted ->
        KeyReservation.draw(
            wanted,
            SnowflakeLayout.DEFAULT,
            count -> new KeyReservation.Some(positions.reserve(count, 0, Long.MAX_VALUE - 1), 0),
            Waiter.PARKING);
  }

  private void mintUpTo(long size, Progress progress) {
    while (rows < size) {
      int count = (int) Math.min(MintCall.REQUESTS_MAX, size - rows);
      mint(MintCall.batch(Collections.nCopies(count, new MintRequest(type, Optional.empty()))));
      progress.advanced(count);
    }
  }

  private void mint(MintCall call) {
    if (!(minter.mint(call) instanceof MintOutcome.Minted(List<MintOutcome.Item> items))) {
      throw new IllegalStateException("not minted");
    }
    for (MintOutcome.Item item : items) {
      if (!(item instanceof MintOutcome.Ticket ticket)) {
        throw new IllegalStateException("not minted: " + item);
      }
      keep(ticket.mapping().publicId().toString());
    }
  }

  /** So that each has the same chance to be in the sample (reservoir sampling). */
  private void keep(String id) {
    rows++;
    if (sample.size() < SAMPLE) {
      sample.add(id);
    } else {
      long place = random.nextLong(rows);
      if (place < SAMPLE) {
        sample.set((int) place, id);
      }
    }
  }

  private GrowthStep step() {
    MintCall one = MintCall.of(new MintRequest(type, Optional.empty()));
    long bytes = store.bytes();
    long before = rows;
    GrowthStep.Latency resolve = timed(() -> resolve(sample.get(random.nextInt(sample.size()))));
    GrowthStep.Latency mint = timed(() -> mint(one));
    return new GrowthStep(storage, before, bytes, mint, resolve);
  }

  private void resolve(String id) {
    if (!(resolver.resolve(id, AllowedTypes.ALL) instanceof ResolveOutcome.Found)) {
      throw new IllegalStateException("not found: " + id);
    }
  }

  private static GrowthStep.Latency timed(Runnable call) {
    for (int i = 0; i < WARMING; i++) {
      call.run();
    }
    long[] nanos = new long[TIMED];
    for (int i = 0; i < TIMED; i++) {
      long begun = System.nanoTime();
      call.run();
      nanos[i] = System.nanoTime() - begun;
    }
    Arrays.sort(nanos);
    return new GrowthStep.Latency(nanos[TIMED / 2] / 1e3, nanos[TIMED / 100 * 99] / 1e3);
  }

  @Override
  public void close() throws StartFailed {
    sealedRows.close();
    registry.close();
    feed.close();
    opened.close();
  }
}
