package dev.coatcheck.cluster.lease;

import com.github.f4b6a3.tsid.TsidFactory;
import com.github.f4b6a3.uuid.factory.standard.TimeOrderedEpochFactory;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.KeyReservation;
import dev.coatcheck.core.key.LayoutParse;
import dev.coatcheck.core.key.Positions;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.Waiter;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import me.ahoo.cosid.snowflake.MillisecondSnowflakeId;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Goal P11, in nanoseconds a key. The default layout ends at 4,096 keys a millisecond, 244.1 ns a
 * key over all threads; JMH shows the time of one thread, so four threads show four times that. The
 * others run with 22 bits of sequence, which nobody exhausts, beside their peers.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgsAppend = "-XX:+UseSerialGC")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class SnowflakeBenchmark {
  private static final int BATCH = 16_384;
  private static final int SEQUENCE_BITS = 22;
  private static final long EPOCH_MILLIS = 1_767_225_600_000L;

  private final WorkerLease capped = lease(SnowflakeLayout.DEFAULT);
  private final SnowflakeLayout wide = wide();
  private final WorkerLease uncapped = lease(wide);
  private final TsidFactory tsid = TsidFactory.builder().withNodeBits(0).withNode(0).build();
  private final TimeOrderedEpochFactory uuid =
      TimeOrderedEpochFactory.builder().withIncrementPlus1().build();
  private final MillisecondSnowflakeId cosId =
      new MillisecondSnowflakeId(EPOCH_MILLIS, 39, 2, SEQUENCE_BITS, 1);

  private static SnowflakeLayout wide() {
    String spelling = "39/2/" + SEQUENCE_BITS + "@" + EPOCH_MILLIS;
    return switch (SnowflakeLayout.parse(spelling, Instant.now())) {
      case LayoutParse.Known(SnowflakeLayout layout) -> layout;
      case LayoutParse.Invalid(String reason) -> throw new IllegalStateException(reason);
    };
  }

  /** A lease on a database that answers at once. */
  private static WorkerLease lease(SnowflakeLayout layout) {
    LeaseSettings settings = LeaseSettings.of(layout, "benchmark");
    return new WorkerLease(
        settings, SnowflakeBenchmark::answer, LeaseRules.KEPT, Waiter.PARKING, null, _ -> {});
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
    capped.start();
    uncapped.start();
    while (!(capped.next(1) instanceof KeyOutcome.Drawn)
        || !(uncapped.next(1) instanceof KeyOutcome.Drawn)) {
      Thread.onSpinWait();
    }
  }

  @TearDown
  public void stop() {
    capped.close();
    uncapped.close();
  }

  @Benchmark
  @Threads(1)
  public KeyOutcome cappedOneThread() {
    return capped.next(1);
  }

  @Benchmark
  @Threads(4)
  public KeyOutcome cappedFourThreads() {
    return capped.next(1);
  }

  @Benchmark
  @Threads(1)
  @OperationsPerInvocation(BATCH)
  public KeyOutcome cappedBatches() {
    return capped.next(BATCH);
  }

  @Benchmark
  @Threads(1)
  public KeyOutcome uncappedOneThread() {
    return uncapped.next(1);
  }

  /** Without the objects around a draw, as the peers count. */
  @Benchmark
  @Threads(1)
  public long uncappedBareOneThread() {
    return bare();
  }

  @Benchmark
  @Threads(4)
  public long uncappedBareFourThreads() {
    return bare();
  }

  private long bare() {
    return uncapped.reserve(1)
            instanceof KeyReservation.Some(Positions.Run(long first, int _), int worker)
        ? wide.key(first, worker)
        : -1;
  }

  @Benchmark
  @Threads(4)
  public KeyOutcome uncappedFourThreads() {
    return uncapped.next(1);
  }

  @Benchmark
  @Threads(1)
  @OperationsPerInvocation(BATCH)
  public KeyOutcome uncappedBatches() {
    return uncapped.next(BATCH);
  }

  @Benchmark
  @Threads(1)
  public long tsidCreatorOneThread() {
    return tsid.create().toLong();
  }

  @Benchmark
  @Threads(4)
  public long tsidCreatorFourThreads() {
    return tsid.create().toLong();
  }

  @Benchmark
  @Threads(1)
  public UUID uuidCreatorOneThread() {
    return uuid.create();
  }

  @Benchmark
  @Threads(4)
  public UUID uuidCreatorFourThreads() {
    return uuid.create();
  }

  @Benchmark
  @Threads(1)
  public long cosIdOneThread() {
    return cosId.generate();
  }

  @Benchmark
  @Threads(4)
  public long cosIdFourThreads() {
    return cosId.generate();
  }
}
