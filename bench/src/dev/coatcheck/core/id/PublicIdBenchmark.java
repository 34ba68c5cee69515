package dev.coatcheck.core.id;

import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Goals P9 and P10, each beside its baseline: a random token against {@code UUID.randomUUID},
 * format against {@code UUID.toString}, parse with check against {@code UUID.fromString}.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgsAppend = "-XX:+UseSerialGC")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class PublicIdBenchmark {
  private static final int COUNT =
      1024; // a power of two; many, so that no branch is learnt by heart

  private final TokenSource tokens = new TokenSource(new RandomSource());
  private final byte[] salt = new byte[16];
  private final byte[] key = new byte[8];
  private final PublicId[] ids = new PublicId[COUNT];
  private final UUID[] uuids = new UUID[COUNT];
  private final String[] idTexts = new String[COUNT];
  private final String[] uuidTexts = new String[COUNT];
  private int next;

  public PublicIdBenchmark() {
    for (int i = 0; i < COUNT; i++) {
      ids[i] = new PublicId(new Prefix("order"), tokens.next(i));
      idTexts[i] = ids[i].toString();
      uuids[i] = UUID.randomUUID();
      uuidTexts[i] = uuids[i].toString();
    }
  }

  @Benchmark
  public Token token() {
    return tokens.next(7);
  }

  @Benchmark
  public UUID tokenBaseline() {
    return UUID.randomUUID();
  }

  @Benchmark
  public String format() {
    return ids[next++ & (COUNT - 1)].toString();
  }

  @Benchmark
  public String formatBaseline() {
    return uuids[next++ & (COUNT - 1)].toString();
  }

  @Benchmark
  public ParsedId parse() {
    return PublicId.parse(idTexts[next++ & (COUNT - 1)]);
  }

  @Benchmark
  public UUID parseBaseline() {
    return UUID.fromString(uuidTexts[next++ & (COUNT - 1)]);
  }

  @Benchmark
  public int bucketOfKey() {
    return Bucket.ofKey(salt, key);
  }
}
