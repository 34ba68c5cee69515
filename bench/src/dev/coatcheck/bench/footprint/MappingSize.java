package dev.coatcheck.bench.footprint;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.OpenDatabase;
import dev.coatcheck.app.boot.StartFailed;
import dev.coatcheck.bench.growth.Growth;
import dev.coatcheck.bench.report.Goal;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.bench.report.Samples;
import dev.coatcheck.bench.speed.Measure;
import dev.coatcheck.bench.speed.Progress;
import dev.coatcheck.cluster.audit.Actor;
import dev.coatcheck.cluster.change.ChangeFeed;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.id.TokenSource;
import dev.coatcheck.core.key.KeyGeneration;
import dev.coatcheck.core.key.KeyGenerator;
import dev.coatcheck.core.key.KeyKind;
import dev.coatcheck.core.observe.Observer;
import dev.coatcheck.core.seal.SealKeys;
import dev.coatcheck.ids.mapping.SealedRows;
import dev.coatcheck.ids.mint.MintCall;
import dev.coatcheck.ids.mint.MintOutcome;
import dev.coatcheck.ids.mint.MintRequest;
import dev.coatcheck.ids.mint.Minter;
import dev.coatcheck.ids.registry.Policies;
import dev.coatcheck.ids.registry.PutConditions;
import dev.coatcheck.ids.registry.Registry;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import java.time.InstantSource;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** P14: what a stored mapping costs in bytes, table and indexes, minted the ordinary way. */
public final class MappingSize {
  private static final int GOAL_ROWS = 1_000_000;
  private static final int BYTES_MAX = 165;

  private MappingSize() {}

  /**
   * What was measured.
   *
   * @param heapBytes of the table alone
   * @param totalBytes of the table, its indexes, and all that belongs to it
   */
  public record Result(
      long rows, long heapBytes, long tokenIndexBytes, long keyIndexBytes, long totalBytes) {
    public double bytesPerMapping() {
      return (double) totalBytes / rows;
    }

    /** The row of P14, whose goal is set for a million rows. */
    public Row row() {
      return new Row(
          Measure.P14.name(),
          Measure.P14.what(),
          "bytes",
          true,
          Samples.of(bytesPerMapping()),
          Optional.empty(),
          rows < GOAL_ROWS ? Optional.empty() : Optional.of(Goal.atMost(BYTES_MAX)));
    }
  }

  /** Mints the rows into the configured database, which must hold no mappings yet. */
  public static Result measure(Config config, int rows, Progress progress) throws StartFailed {
    Observer observer = new Observer();
    RandomSource random = new RandomSource();
    try (OpenDatabase opened = OpenDatabase.open(config, observer);
        Registry registry =
            Registry.open(
                opened.database(),
                ChangeFeed.none(),
                SealKeys.NONE,
                random,
                observer,
                System::nanoTime);
        SealedRows sealedRows =
            SealedRows.open(
                opened.database(), registry, ChangeFeed.none(), observer, InstantSource.system())) {
      KeyGenerator keys = Growth.keys();
      Minter minter =
          Minter.open(
              opened.database(),
              registry,
              new TokenSource(random),
              _ -> keys,
              sealedRows,
              observer,
              4);
      mint(minter, type(registry), rows, progress);
      SizeStore store = new SizeStore(opened.database());
      return new Result(
          store.rows(),
          store.heapBytes(),
          store.tokenIndexBytes(),
          store.keyIndexBytes(),
          store.totalBytes());
    }
  }

  private static void mint(Minter minter, Type type, int rows, Progress progress) {
    MintRequest generated = new MintRequest(type, Optional.empty());
    for (int minted = 0; minted < rows; ) {
      int count = Math.min(MintCall.REQUESTS_MAX, rows - minted);
      List<MintRequest> requests = Collections.nCopies(count, generated);
      switch (minter.mint(MintCall.batch(requests))) {
        case MintOutcome.Minted(List<MintOutcome.Item> items) -> {
          minted += items.size();
          progress.advanced(items.size());
        }
        case MintOutcome other -> throw new IllegalStateException("not minted: " + other);
      }
    }
  }

  private static Type type(Registry registry) {
    registry.put(
        new TypeDefinition(
            "bench",
            new Prefix("bench"),
            KeyKind.BIGINT,
            KeyGeneration.usual(KeyKind.BIGINT),
            Policies.DEFAULT,
            Optional.empty(),
            Optional.empty(),
            false),
        PutConditions.NONE,
        Actor.operator());
    return registry.named("bench").orElseThrow();
  }
}
