package dev.coatcheck.core.scheme;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.f4b6a3.ksuid.Ksuid;
import com.github.f4b6a3.ulid.Ulid;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TextSchemesTest {
  private static final Instant AT = Instant.parse("2024-06-30T12:00:00.123Z");

  private long wallMillis = AT.toEpochMilli();
  private final TextSchemes schemes = new TextSchemes(new SecureRandom(), () -> wallMillis);

  private TextKeys<?> keys(String scheme) {
    return schemes.named(scheme).orElseThrow();
  }

  @ParameterizedTest
  @ValueSource(strings = {"ulid", "ksuid"})
  void theyRiseWhateverTheClockDoes(String scheme) {
    List<String> made = new ArrayList<>();
    for (long step : new long[] {0, 1, -3_000, 5_000, -3_600_000, 0, 10_000}) {
      wallMillis += step;
      made.addAll(keys(scheme).next(100));
    }

    assertThat(made).isSorted().doesNotHaveDuplicates().hasSize(700);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ulid", "ksuid"})
  void threadsGetNoneTwice(String scheme) throws Exception {
    Callable<List<String>> draw =
        () -> {
          List<String> mine = new ArrayList<>();
          while (mine.size() < 20_000) {
            mine.addAll(keys(scheme).next(1 + mine.size() % 7));
          }
          return mine;
        };
    List<String> all = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (Future<List<String>> made : threads.invokeAll(List.of(draw, draw, draw, draw))) {
        assertThat(made.get()).isSorted();
        all.addAll(made.get());
      }
    }
    assertThat(new HashSet<>(all)).hasSameSizeAs(all);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ulid", "ksuid"})
  void aTimeThatWasAskedForBeforeGetsOthers(String scheme) {
    List<String> made = new ArrayList<>();
    for (int call = 0; call < 100; call++) {
      List<String> some = keys(scheme).at(AT, 50);

      assertThat(some).isSorted();
      made.addAll(some);
    }
    assertThat(new HashSet<>(made)).hasSize(5_000);
  }

  @Test
  void theyCarryTheirTime() {
    assertThat(Ulid.getInstant(keys("ulid").next(1).getFirst())).isEqualTo(AT);
    assertThat(Ulid.getInstant(keys("ulid").at(AT.plusMillis(5), 1).getFirst()))
        .isEqualTo(AT.plusMillis(5));
    assertThat(Ksuid.getInstant(keys("ksuid").next(1).getFirst()))
        .isEqualTo("2024-06-30T12:00:00Z");
    assertThat(Ksuid.getInstant(keys("ksuid").at(AT.plusSeconds(9), 1).getFirst()))
        .isEqualTo("2024-06-30T12:00:09Z");
  }

  @ParameterizedTest
  @ValueSource(strings = {"ulid", "ksuid"})
  void theFirstAndTheLastTimeFit(String scheme) {
    TextKeys<?> keys = keys(scheme);
    String first = keys.at(keys.first(), 1).getFirst();
    String last = keys.at(keys.end().minusMillis(1), 1).getFirst();

    assertThat(first).hasSameSizeAs(last).isLessThan(last);
    assertThat(first).startsWith("0000");
    assertThat(scheme.equals("ulid") ? Ulid.getInstant(last) : Ksuid.getInstant(last))
        .isAfter(keys.end().minusSeconds(2))
        .isBefore(keys.end());
  }
}
