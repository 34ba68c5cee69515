package dev.coatcheck.core.key;

import com.fasterxml.uuid.Generators;
import com.fasterxml.uuid.impl.TimeBasedEpochGenerator;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

/**
 * UUIDv7 keys that rise within the process, even if the clock steps back. A draw holds the lock. If
 * the clock steps back, the time of the keys stands still.
 */
public final class UuidV7 implements KeyGenerator {
  private static final long MILLIS_MAX = (1L << 48) - 1;
  private static final long VERSION = 7L << 12;
  private static final long VERSION_FIELD_MAX = VERSION | 0xfff;
  private static final long VARIANT_MIN = 0x8000_0000_0000_0000L;
  private static final long VARIANT_MAX = 0xbfff_ffff_ffff_ffffL;

  private final Object lock = new Object();
  private final TimeBasedEpochGenerator generator = Generators.timeBasedEpochGenerator();
  private final LongSupplier wallMillis;
  private long millis;

  public UuidV7() {
    this(System::currentTimeMillis);
  }

  public UuidV7(LongSupplier wallMillis) {
    this.wallMillis = wallMillis;
  }

  @Override
  public KeyOutcome next(int count) {
    Key[] keys = new Key[KeyGenerator.checked(count)];
    synchronized (lock) {
      millis = Math.max(millis, wallMillis.getAsLong());
      for (int i = 0; i < count; i++) {
        keys[i] = new Key.Uuid(generator.construct(millis));
      }
    }
    return new KeyOutcome.Drawn(List.of(keys));
  }

  /**
   * Keys for given times, unique because of their 74 random bits. Within a draw, keys of one
   * millisecond rise. Their generator is separate from that of keys for now, which always rise.
   */
  public static DatedKeyGenerator dated() {
    Object lock = new Object();
    TimeBasedEpochGenerator generator = Generators.timeBasedEpochGenerator();
    return millis -> {
      DatedKeyGenerator.check(millis);
      synchronized (lock) {
        return new KeyOutcome.Drawn(
            LongStream.of(millis)
                .<Key>mapToObj(each -> new Key.Uuid(generator.construct(each)))
                .toList());
      }
    };
  }

  /**
   * The bounds of the keys from millisecond {@code first} to {@code last}, both inclusive; empty if
   * none of these milliseconds fits in 48 bits.
   */
  public static Optional<KeyBounds> bounds(Instant first, Instant last) {
    long from = Math.max(LayoutSpelling.millis(first), 0);
    long to = Math.min(LayoutSpelling.millis(last), MILLIS_MAX);
    if (from > to) {
      return Optional.empty();
    }
    return Optional.of(
        new KeyBounds(
            new Key.Uuid(new UUID(from << 16 | VERSION, VARIANT_MIN)),
            new Key.Uuid(new UUID(to << 16 | VERSION_FIELD_MAX, VARIANT_MAX))));
  }
}
