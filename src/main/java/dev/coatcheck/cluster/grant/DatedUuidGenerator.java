package dev.coatcheck.cluster.grant;

import com.fasterxml.uuid.Generators;
import com.fasterxml.uuid.impl.TimeBasedEpochGenerator;
import dev.coatcheck.core.key.DatedKeyGenerator;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyOutcome;
import java.util.ArrayList;
import java.util.List;

/**
 * UUIDv7 keys for given times, unique because of their 74 random bits. Within a draw, keys of one
 * millisecond rise. This generator is separate from that of keys for now, which always rise.
 */
final class DatedUuidGenerator implements DatedKeyGenerator {
  private final Object lock = new Object();
  private final TimeBasedEpochGenerator generator = Generators.timeBasedEpochGenerator();

  @Override
  public KeyOutcome at(long[] millis) {
    DatedKeyGenerator.check(millis);
    List<Key> keys = new ArrayList<>(millis.length);
    synchronized (lock) {
      for (long each : millis) {
        keys.add(new Key.Uuid(generator.construct(each)));
      }
    }
    return new KeyOutcome.Drawn(keys);
  }
}
