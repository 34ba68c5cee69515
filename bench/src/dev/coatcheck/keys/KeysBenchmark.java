package dev.coatcheck.keys;

import com.github.f4b6a3.tsid.TsidFactory;
import com.github.f4b6a3.uuid.factory.standard.TimeOrderedEpochFactory;
import dev.coatcheck.cluster.lease.LeaseReply;
import dev.coatcheck.cluster.lease.LeaseRequest;
import dev.coatcheck.cluster.lease.LeaseSettings;
import dev.coatcheck.cluster.lease.WorkerLease;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import me.ahoo.cosid.snowflake.MillisecondSnowflakeId;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Goal P19, in nanoseconds a key: keys of {@code coatcheck-keys} beside their peers. The layout
 * {@code default} ends at 4,096 keys a millisecond, 244.1 ns a key; the others have 22 bits of
 * sequence, which nobody exhausts. {@code -prof gc} shows what is allocated.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Threads(1)
@Fork(value = 2, jvmArgsAppend = "-XX:+UseSerialGC")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class KeysBenchmark {
  private static final int SEQUENCE_BITS = 22;
  private static final long EPOCH_MILLIS = 1_767_225_600_000L;
  private static final String WIDE = "39/2/" + SEQUENCE_BITS + "@" + EPOCH_MILLIS;

  private final Snowflakes capped = leased("default");
  private final Snowflakes uncapped = leased(WIDE);
  private final Snowflakes standalone = Snowflakes.standalone(1).layout(WIDE).open();
  private final UuidV7s uuids = new UuidV7s();
  private final TsidFactory tsid = TsidFactory.builder().withNodeBits(0).withNode(0).build();
  private final TimeOrderedEpochFactory uuid =
      TimeOrderedEpochFactory.builder().withIncrementPlus1().build();
  private final MillisecondSnowflakeId cosId =
      new MillisecondSnowflakeId(EPOCH_MILLIS, 39, 2, SEQUENCE_BITS, 1);

  /** On a database that answers at once. */
  private static Snowflakes leased(String name) {
    SnowflakeLayout layout = SnowflakeLayout.accepted(name);
    LeaseSettings settings = LeaseSettings.of(layout, "benchmark");
    WorkerLease lease =
        WorkerLease.watchingTheWallClock(settings, KeysBenchmark::answer, event -> {});
    return new Snowflakes(layout, new LeasedSource(lease.start()));
  }

  private static LeaseReply answer(LeaseRequest request) {
    long now = System.currentTimeMillis();
    return switch (request) {
      case LeaseRequest.Acquire _ -> new LeaseReply.Acquired(1, 1, now, now + 3_000);
      case LeaseRequest.Renew _ -> new LeaseReply.Renewed(now, now + 3_000);
      case LeaseRequest.Release _ -> new LeaseReply.Released();
    };
  }

  @Setup
  public void start() {
    long _ = capped.next() + uncapped.next();
  }

  @TearDown
  public void stop() {
    capped.close();
    uncapped.close();
    standalone.close();
  }

  @Benchmark
  public long leasedUncapped() {
    return uncapped.next();
  }

  @Benchmark
  @Threads(4)
  public long leasedUncappedFourThreads() {
    return uncapped.next();
  }

  @Benchmark
  public long leasedCapped() {
    return capped.next();
  }

  @Benchmark
  public long standaloneUncapped() {
    return standalone.next();
  }

  @Benchmark
  public UUID uuidV7() {
    return uuids.next();
  }

  /** What each leased key begins with. */
  @Benchmark
  public long nanoTime() {
    return System.nanoTime();
  }

  @Benchmark
  public long tsidCreator() {
    return tsid.create().toLong();
  }

  @Benchmark
  public UUID uuidCreator() {
    return uuid.create();
  }

  @Benchmark
  public long cosId() {
    return cosId.generate();
  }
}
