package dev.coatcheck.core.scheme;

import com.fasterxml.uuid.Generators;
import com.fasterxml.uuid.impl.TimeBasedEpochGenerator;
import com.github.f4b6a3.ksuid.KsuidCreator;
import com.github.f4b6a3.ulid.Ulid;
import com.github.f4b6a3.ulid.UlidCreator;
import com.github.f4b6a3.uuid.factory.standard.TimeOrderedEpochFactory;
import dev.coatcheck.core.key.KeyOutcome;
import dev.coatcheck.core.key.UuidV7;
import dev.coatcheck.core.key.Waiter;
import dev.coatcheck.core.older.Decoded;
import dev.coatcheck.core.older.Hashids;
import dev.coatcheck.core.older.Sqids;
import dev.coatcheck.core.older.TypeIds;
import java.util.List;
import java.util.Optional;
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
 * Every scheme beside the library that people use for it, by one thread. Snowflakes have a
 * benchmark of their own. Decoding is strict on both sides: a text counts only if it is the text
 * that the number makes.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "-XX:+UseSerialGC")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SchemeBenchmark {
  /** A power of two; many, so that no branch is learnt by heart. */
  private static final int COUNT = 1_024;

  private static final String SALT = "this is my salt";
  private static final int MIN_LENGTH = 8;

  private final TextKeys<?> ulids = new TextSchemes().named("ulid").orElseThrow();
  private final TextKeys<?> ksuids = new TextSchemes().named("ksuid").orElseThrow();
  private final UuidV7 uuids = new UuidV7();
  private final TimeOrderedEpochFactory uuidCreator =
      TimeOrderedEpochFactory.builder().withIncrementPlus1().build();
  private final TimeBasedEpochGenerator uuidGenerator = Generators.timeBasedEpochGenerator();
  private final SnoGenerator snos =
      new SnoGenerator(
          SnoSnapshot.fresh(new SnoShare(7, SequenceRange.ALL)),
          System::currentTimeMillis,
          Waiter.PARKING,
          (_, _) -> {});

  private final Hashids hashids = new Hashids(SALT, Hashids.DEFAULT_ALPHABET, MIN_LENGTH);
  private final org.hashids.Hashids hashidsLibrary = new org.hashids.Hashids(SALT, MIN_LENGTH);
  private final Sqids sqids = new Sqids(Sqids.DEFAULT_ALPHABET, MIN_LENGTH);
  private final org.sqids.Sqids sqidsLibrary =
      org.sqids.Sqids.builder().minLength(MIN_LENGTH).build();
  private final TypeIds typeIds = new TypeIds("user");

  private final String[] hashidTexts = new String[COUNT];
  private final String[] sqidTexts = new String[COUNT];
  private final String[] typeIdTexts = new String[COUNT];
  private final String[] ulidTexts = new String[COUNT];
  private int next;

  public SchemeBenchmark() {
    for (int i = 0; i < COUNT; i++) {
      long number = i * 7_919L + 1;
      hashidTexts[i] = hashidsLibrary.encode(number);
      sqidTexts[i] = sqidsLibrary.encode(List.of(number));
      ulidTexts[i] = UlidCreator.getUlid().toString();
      typeIdTexts[i] = "user_" + UlidCreator.getUlid().toLowerCase();
    }
  }

  private int any() {
    return next++ & (COUNT - 1);
  }

  @Benchmark
  public KeyOutcome uuidV7() {
    return uuids.next(1);
  }

  @Benchmark
  public UUID uuidV7ByUuidCreator() {
    return uuidCreator.create();
  }

  @Benchmark
  public UUID uuidV7ByJavaUuidGenerator() {
    return uuidGenerator.generate();
  }

  @Benchmark
  public List<String> ulid() {
    return ulids.next(1);
  }

  @Benchmark
  public String ulidByUlidCreator() {
    return UlidCreator.getMonotonicUlid().toString();
  }

  @Benchmark
  public List<String> ksuid() {
    return ksuids.next(1);
  }

  @Benchmark
  public String ksuidByKsuidCreator() {
    return KsuidCreator.getMonotonicKsuid().toString();
  }

  /** At most 65,536 in a tick of 4 ms, which are 61 ns each. */
  @Benchmark
  public String sno() {
    return snos.next(1).toString();
  }

  @Benchmark
  public Optional<Decoded> hashidsDecoded() {
    return hashids.decode(hashidTexts[any()]);
  }

  @Benchmark
  public long[] hashidsDecodedByLibrary() {
    return hashidsLibrary.decode(hashidTexts[any()]);
  }

  @Benchmark
  public Optional<Decoded> sqidsDecoded() {
    return sqids.decode(sqidTexts[any()]);
  }

  /** As its authors say to be strict: the text is encoded again and compared. */
  @Benchmark
  public boolean sqidsDecodedByLibrary() {
    String text = sqidTexts[any()];
    return sqidsLibrary.encode(sqidsLibrary.decode(text)).equals(text);
  }

  @Benchmark
  public Optional<Decoded> typeIdDecoded() {
    return typeIds.decode(typeIdTexts[any()]);
  }

  /** The same 26 characters; no library of TypeIDs for the JVM is on Maven Central. */
  @Benchmark
  public UUID typeIdDecodedAsUlidByUlidCreator() {
    return Ulid.from(ulidTexts[any()]).toUuid();
  }
}
