package dev.coatcheck.cluster.grant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.key.DatedKeys;
import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyDraw;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DatedUuidsTest {
  private static final long AT = 1_700_000_000_000L;

  private final DatedKeys keys = new DatedUuids();

  @Test
  void theyCarryTheirTimesAndRise() {
    long[] times = {AT, AT, AT + 1, AT + 5_000};
    List<UUID> drawn = draw(times);

    assertThat(drawn).isSortedAccordingTo((a, b) -> a.toString().compareTo(b.toString()));
    for (int i = 0; i < times.length; i++) {
      assertThat(drawn.get(i).getMostSignificantBits() >>> 16).isEqualTo(times[i]);
      assertThat(drawn.get(i).version()).isEqualTo(7);
      assertThat(drawn.get(i).variant()).isEqualTo(2);
    }
  }

  @Test
  void aTimeThatWasAskedForBeforeGetsOtherKeys() {
    Set<UUID> seen = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      seen.addAll(draw(AT + i % 2));
    }
    assertThat(seen).hasSize(10_000);
  }

  private List<UUID> draw(long... times) {
    if (keys.at(times) instanceof KeyDraw.Drawn(List<Key> drawn)) {
      return drawn.stream().map(key -> ((Key.Uuid) key).value()).toList();
    }
    throw new AssertionError("no keys");
  }
}
