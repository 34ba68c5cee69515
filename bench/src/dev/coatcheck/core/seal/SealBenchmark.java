package dev.coatcheck.core.seal;

import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.core.id.Token;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.bouncycastle.crypto.fpe.FPEEngine;
import org.bouncycastle.crypto.fpe.FPEFF1Engine;
import org.bouncycastle.crypto.params.FPEParameters;
import org.bouncycastle.crypto.params.KeyParameter;
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
 * Sealed public IDs beside other ways to publish a key without a row: from the key to the text that
 * a client gets, and from the text back to the key, by one thread.
 *
 * <p>Each does all that it offers, and none does the same: only a sealed ID tells a made-up text
 * from its own. Hashids and Sqids are decoded as strictly as their authors advise, which is to
 * encode again and compare. UUIDv47 hides a UUIDv7, as it is made for. FF1 has 11 characters of
 * base62, which are as many as 64 bits need, and accepts any of them.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgsAppend = "-XX:+UseSerialGC")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class SealBenchmark {
  private static final int COUNT = 1_024; // a power of two; many, so that no branch is learnt
  private static final int ERAS = 3;
  private static final int RADIX = 62;
  private static final int FF1_CHARACTERS = 11;
  private static final byte[] DIGITS =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
          .getBytes(StandardCharsets.US_ASCII);

  private final Prefix prefix = new Prefix("msg");
  private final Sealing sealing = sealing(1);
  private final Sealing ofThreeEras = sealing(ERAS);
  private final org.hashids.Hashids hashids = new org.hashids.Hashids("this is my salt", 8);
  private final org.sqids.Sqids sqids = org.sqids.Sqids.builder().minLength(8).build();
  private final Uuid47 uuid47 = new Uuid47(0x0706050403020100L, 0x0f0e0d0c0b0a0908L);
  private final FPEEngine ff1Writing = ff1(true);
  private final FPEEngine ff1Reading = ff1(false);

  private final long[] keys = new long[COUNT];
  private final UUID[] uuids = new UUID[COUNT];
  private final String[] sealedTexts = new String[COUNT];
  private final String[] forgedTexts = new String[COUNT];
  private final String[] hashidTexts = new String[COUNT];
  private final String[] sqidTexts = new String[COUNT];
  private final String[] uuidTexts = new String[COUNT];
  private final String[] ff1Texts = new String[COUNT];
  private int next;

  public SealBenchmark() {
    SnowflakeLayout layout = SnowflakeLayout.DEFAULT;
    long first =
        layout.key(layout.position(Instant.parse("2025-06-01T00:00:00Z").toEpochMilli()), 3);
    for (int i = 0; i < COUNT; i++) {
      keys[i] = first + i * 7_919L * 4_096;
      UUID random = UUID.randomUUID();
      uuids[i] =
          new UUID(
              (1_750_000_000_000L + i) << 16 | 7L << 12 | (random.getMostSignificantBits() & 0xfff),
              random.getLeastSignificantBits());
      sealedTexts[i] = sealed(sealing, keys[i]);
      forgedTexts[i] =
          new PublicId(prefix, new Token(random.getMostSignificantBits(), keys[i])).toString();
      hashidTexts[i] = hashids.encode(hashidNumbers(keys[i]));
      sqidTexts[i] = sqids.encode(List.of(keys[i]));
      uuidTexts[i] = uuid47.hide(uuids[i]).toString();
      ff1Texts[i] = ff1Text(keys[i]);
    }
  }

  private Sealing sealing(int eras) {
    List<Sealing.Era> all =
        IntStream.range(0, eras)
            .mapToObj(
                i -> {
                  SealKey key = SealKey.parse(Integer.toString(i + 1).repeat(64)).orElseThrow();
                  return new Sealing.Era(
                      i == 0
                          ? Optional.empty()
                          : Optional.of(Instant.parse("2080-01-01T00:00:00Z").plusSeconds(i)),
                      key.fingerprint(),
                      Optional.of(key),
                      Optional.empty());
                })
            .toList();
    return new Sealing(prefix, SnowflakeLayout.DEFAULT, Instant.EPOCH, all);
  }

  private static FPEEngine ff1(boolean writes) {
    FPEEngine engine = new FPEFF1Engine();
    byte[] key = new byte[32];
    Arrays.fill(key, (byte) 7);
    engine.init(writes, new FPEParameters(new KeyParameter(key), RADIX, new byte[0]));
    return engine;
  }

  private String sealed(Sealing by, long key) {
    return new PublicId(prefix, by.seal(key).orElseThrow()).toString();
  }

  private static Sealing.Opened opened(Sealing by, String text) {
    return by.open(((ParsedId.Valid) PublicId.parse(text)).id().token());
  }

  /** Its library takes numbers up to 2^53, so a key is two. */
  private static long[] hashidNumbers(long key) {
    return new long[] {key >>> 32, key & 0xffff_ffffL};
  }

  private String ff1Text(long key) {
    byte[] digits = new byte[FF1_CHARACTERS];
    long rest = key;
    for (int i = FF1_CHARACTERS - 1; i >= 0; i--) {
      digits[i] = (byte) (rest % RADIX);
      rest /= RADIX;
    }
    ff1Writing.processBlock(digits, 0, FF1_CHARACTERS, digits, 0);
    for (int i = 0; i < FF1_CHARACTERS; i++) {
      digits[i] = DIGITS[digits[i]];
    }
    return new String(digits, StandardCharsets.ISO_8859_1);
  }

  private long ff1Key(String text) {
    byte[] digits = new byte[FF1_CHARACTERS];
    for (int i = 0; i < FF1_CHARACTERS; i++) {
      char each = text.charAt(i);
      digits[i] =
          (byte) (each <= '9' ? each - '0' : each <= 'Z' ? each - 'A' + 10 : each - 'a' + 36);
    }
    ff1Reading.processBlock(digits, 0, FF1_CHARACTERS, digits, 0);
    long key = 0;
    for (byte digit : digits) {
      key = key * RADIX + digit;
    }
    return key;
  }

  /** Whether each of them gives the keys back; the benchmarks measure nothing otherwise. */
  boolean givesAllBack() {
    for (int i = 0; i < COUNT; i++) {
      if (!opened(sealing, sealedTexts[i]).equals(new Sealing.Opened.OfKey(keys[i]))
          || !(opened(ofThreeEras, forgedTexts[i]) instanceof Sealing.Opened.NotSealed)
          || ff1Key(ff1Texts[i]) != keys[i]
          || !uuid47.show(UUID.fromString(uuidTexts[i])).equals(uuids[i])
          || sqids.decode(sqidTexts[i]).getFirst() != keys[i]
          || hashids.decode(hashidTexts[i])[1] != (keys[i] & 0xffff_ffffL)) {
        return false;
      }
    }
    return true;
  }

  private int any() {
    return next++ & (COUNT - 1);
  }

  @Benchmark
  public String sealedWritten() {
    return sealed(sealing, keys[any()]);
  }

  @Benchmark
  public Sealing.Opened sealedRead() {
    return opened(sealing, sealedTexts[any()]);
  }

  /** Each era is tried, so a refusal costs what an open does. */
  @Benchmark
  public Sealing.Opened sealedReadOfThreeEras() {
    return opened(ofThreeEras, sealedTexts[any()]);
  }

  @Benchmark
  public Sealing.Opened sealedRefusedOfThreeEras() {
    return opened(ofThreeEras, forgedTexts[any()]);
  }

  @Benchmark
  public String hashidsWritten() {
    return hashids.encode(hashidNumbers(keys[any()]));
  }

  @Benchmark
  public boolean hashidsRead() {
    String text = hashidTexts[any()];
    return hashids.encode(hashids.decode(text)).equals(text);
  }

  @Benchmark
  public String sqidsWritten() {
    return sqids.encode(List.of(keys[any()]));
  }

  @Benchmark
  public boolean sqidsRead() {
    String text = sqidTexts[any()];
    return sqids.encode(sqids.decode(text)).equals(text);
  }

  @Benchmark
  public String uuid47Written() {
    return uuid47.hide(uuids[any()]).toString();
  }

  @Benchmark
  public UUID uuid47Read() {
    return uuid47.show(UUID.fromString(uuidTexts[any()]));
  }

  @Benchmark
  public String ff1Written() {
    return ff1Text(keys[any()]);
  }

  @Benchmark
  public long ff1Read() {
    return ff1Key(ff1Texts[any()]);
  }
}
