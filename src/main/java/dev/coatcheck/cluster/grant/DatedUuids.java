package dev.coatcheck.cluster.grant;

import com.fasterxml.uuid.Generators;
import com.fasterxml.uuid.impl.TimeBasedEpochGenerator;
import dev.coatcheck.core.key.DatedKeys;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyDraw;
import java.util.ArrayList;
import java.util.List;

/**
 * UUIDv7 keys for given times, unique because of their 74 random bits. Within a draw, keys of one
 * millisecond rise. This generator is separate from that of keys for now, which always rise.
 */
final class DatedUuids implements DatedKeys {
  private final Object lock = new Object();
  private final TimeBasedEpochGenerator generator = Generators.timeBasedEpochGenerator();

  @Override
  public KeyDraw at(long[] millis) {
    DatedKeys.check(millis);
    List<Key> keys = new ArrayList<>(millis.length);
    synchronized (lock) {
      for (long each : millis) {
        keys.add(new Key.Uuid(generator.construct(each)));
      }
    }
    return new KeyDraw.Drawn(keys);
  }
}
