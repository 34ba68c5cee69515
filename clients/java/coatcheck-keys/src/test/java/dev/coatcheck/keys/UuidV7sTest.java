package dev.coatcheck.keys;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class UuidV7sTest {
  private static final long START = 1_790_000_000_000L;

  private final AtomicLong wall = new AtomicLong(START);
  private final UuidV7s uuids = new UuidV7s(wall::get);

  @Test
  void aUuidIsOfVersion7AndCarriesItsMillisecond() {
    UUID uuid = uuids.next();
    assertThat(uuid.version()).isEqualTo(7);
    assertThat(uuid.variant()).isEqualTo(2);
    assertThat(uuid.getMostSignificantBits() >>> 16).isEqualTo(START);
  }

  @Test
  void uuidsRiseWithinAMillisecondAndOverAStepBackOfTheClock() {
    Set<UUID> all = new HashSet<>();
    UUID last = uuids.next();
    for (int i = 0; i < 200_000; i++) {
      if (i % 1_000 == 0) {
        wall.addAndGet(i % 3_000 == 0 ? -7 : 5);
      }
      UUID next = uuids.next();
      assertThat(next.toString()).isGreaterThan(last.toString());
      assertThat(all.add(next)).isTrue();
      last = next;
    }
  }

  @Test
  void twoGeneratorsDiffer() {
    assertThat(new UuidV7s(() -> START).next()).isNotEqualTo(new UuidV7s(() -> START).next());
  }
}
