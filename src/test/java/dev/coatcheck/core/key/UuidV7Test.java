package dev.coatcheck.core.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UuidV7Test {
  @Test
  void keysRiseOnEveryThreadAndNoneRepeats() throws Exception {
    UuidV7 generator = new UuidV7();
    Set<String> all = new HashSet<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<List<String>>> running = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        running.add(threads.submit(() -> draw(generator)));
      }
      for (Future<List<String>> future : running) {
        assertThat(future.get()).isSorted();
        all.addAll(future.get());
      }
    }
    assertThat(all).hasSize(4 * 50_000);
  }

  private static List<String> draw(UuidV7 generator) {
    List<String> keys = new ArrayList<>();
    while (keys.size() < 50_000) {
      keys.addAll(texts(generator.next(1 + keys.size() % 2)));
    }
    return keys.subList(0, 50_000);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 100, 3_000, 3_600_000})
  void keysRiseAcrossAClockStep(long stepMillis) {
    AtomicLong clock = new AtomicLong(1_780_000_000_000L);
    UuidV7 generator = new UuidV7(clock::get);
    List<String> keys = new ArrayList<>(texts(generator.next(100)));
    clock.addAndGet(-stepMillis);
    keys.addAll(texts(generator.next(16_384)));
    assertThat(keys).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void boundsHoldTheKeysOfTheirMillisecond() {
    Instant at = Instant.ofEpochMilli(1_780_000_000_123L);
    KeyBounds bounds = UuidV7.bounds(at, at).orElseThrow();
    assertThat(bounds.smallest().text()).isEqualTo("019e7044-887b-7000-8000-000000000000");
    assertThat(bounds.largest().text()).isEqualTo("019e7044-887b-7fff-bfff-ffffffffffff");
    for (String key : texts(new UuidV7(at::toEpochMilli).next(1_000))) {
      assertThat(key).isBetween(bounds.smallest().text(), bounds.largest().text());
    }
    assertThat(UuidV7.bounds(Instant.MIN, Instant.MAX).orElseThrow().largest().text())
        .isEqualTo("ffffffff-ffff-7fff-bfff-ffffffffffff");
    assertThat(UuidV7.bounds(Instant.MIN, Instant.EPOCH.minusMillis(1))).isEmpty();
  }

  private static List<String> texts(KeyOutcome draw) {
    return ((KeyOutcome.Drawn) draw).keys().stream().map(Key::text).toList();
  }
}
