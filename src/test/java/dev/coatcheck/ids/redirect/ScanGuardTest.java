package dev.coatcheck.ids.redirect;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntToLongFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ScanGuardTest {
  private static final int TYPE = 1;
  private static final Visitor ONE = Visitor.at("192.0.2.1");
  private static final Visitor OTHER = Visitor.at("192.0.2.2");

  private final AtomicLong now = new AtomicLong(-7);
  private final ScanGuard guard = new ScanGuard(now::get);

  static Stream<Arguments> scanners() {
    List<Long> shuffled = new ArrayList<>(LongStream.rangeClosed(1, 200).boxed().toList());
    Collections.shuffle(shuffled, new Random(1));
    return Stream.of(
        scanner("one by one", i -> 1 + i),
        scanner("backwards", i -> 5_000 - i),
        scanner("each third", i -> 1 + 3L * i),
        scanner("gaps up to 16", i -> 1 + 15L * i + i % 2),
        scanner("steps of 1,000", i -> 1 + 1_000L * i),
        scanner("steps of a billion, down", i -> Long.MAX_VALUE - 1_000_000_000L * i),
        scanner("shuffled", shuffled::get),
        scanner("from both ends inwards", i -> i % 2 == 0 ? 1 + i / 2 : 200 - i / 2));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("scanners")
  void aScannerIsStopped(String how, IntToLongFunction numbers) {
    int asked = 0;
    while (asked < 200 && guard.refusedSeconds(ONE) == 0) {
      pass(100);
      guard.asked(ONE, TYPE, numbers.applyAsLong(asked));
      asked++;
    }

    assertThat(asked).as(how).isBetween(ScanGuard.NUMBERS_MAX + 1, 120);
    assertThat(guard.refusedSeconds(OTHER)).isZero();
  }

  static Stream<Arguments> honest() {
    Random random = new Random(2);
    return Stream.of(
        scanner("20 bookmarks in a row", i -> 4_711 + Math.min(i, 19)),
        scanner("one page again and again", i -> 4_711),
        scanner("numbers far apart", i -> Math.floorMod(random.nextLong(), 100_000_000L) + 1),
        scanner("two pages of 18", i -> i % 2 == 0 ? 100 + i / 2 % 18 : 90_000 + i / 2 % 18));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("honest")
  void anHonestVisitorIsNot(String how, IntToLongFunction numbers) {
    for (int i = 0; i < 500; i++) {
      pass(100);
      assertThat(guard.asked(ONE, TYPE, numbers.applyAsLong(i))).as("%s, %s", how, i).isZero();
    }
    assertThat(guard.refusedSeconds(ONE)).isZero();
  }

  @Test
  void whoTakesItsTimeIsNotStopped() {
    for (int i = 1; i <= 500; i++) {
      pass(1_600);
      assertThat(guard.asked(ONE, TYPE, i)).as("number %s", i).isZero();
    }
  }

  @Test
  void typesAreWatchedApartButAVisitorIsRefusedForAll() {
    for (int i = 1; i <= ScanGuard.NUMBERS_MAX; i++) {
      assertThat(guard.asked(ONE, TYPE, i)).isZero();
      assertThat(guard.asked(ONE, 2, i)).isZero();
    }
    assertThat(guard.asked(ONE, 2, 1_000 + ScanGuard.NUMBERS_MAX)).isZero();
    assertThat(guard.asked(ONE, TYPE, ScanGuard.NUMBERS_MAX + 1)).isEqualTo(60);
    assertThat(guard.refusedSeconds(ONE)).isEqualTo(60);
  }

  @Test
  void aRefusalEndsAndTheNextLastsTwiceAsLong() {
    int expected = 60;
    for (int round = 0; round < 9; round++) {
      int refused = 0;
      for (int i = 1; i <= 100 && refused == 0; i++) {
        refused = guard.asked(ONE, TYPE, i);
      }
      assertThat(refused).isEqualTo(expected);
      pass(TimeUnit.SECONDS.toMillis(expected) - 1);
      assertThat(guard.refusedSeconds(ONE)).isEqualTo(1);
      pass(1);
      assertThat(guard.refusedSeconds(ONE)).isZero();
      expected = Math.min(expected * 2, 3_840);
    }
    pass(TimeUnit.HOURS.toMillis(3));
    for (int i = 1; i <= ScanGuard.NUMBERS_MAX; i++) {
      assertThat(guard.asked(ONE, TYPE, i)).isZero();
    }
    assertThat(guard.asked(ONE, TYPE, 41)).isEqualTo(60);
  }

  @Test
  void tooManyMissesAreStoppedAndAFewAreNot() {
    for (int minute = 0; minute < 5; minute++) {
      for (int i = 0; i < ScanGuard.MISSES_MAX; i++) {
        guard.missed(ONE);
        assertThat(guard.refusedSeconds(ONE)).isZero();
      }
      pass(60_000);
    }
    for (int i = 0; i <= ScanGuard.MISSES_MAX; i++) {
      guard.missed(ONE);
    }
    assertThat(guard.refusedSeconds(ONE)).isEqualTo(60);
    assertThat(guard.refusedSeconds(OTHER)).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "192.0.2.1, 192.0.2.1, true",
    "192.0.2.1, 192.0.2.2, false",
    "::ffff:192.0.2.1, 192.0.2.1, true",
    "2001:db8:1:2::1, 2001:db8:1:2:ffff::9, true",
    "2001:db8:1:2::1, 2001:db8:1:3::1, false",
    "::c000:201:0:0:0:0, 192.0.2.1, false",
    "nonsense, 1.2.3.4.5, true"
  })
  void aVisitorIsAnIpv4AddressOrASlash64(String one, String other, boolean same) {
    assertThat(Visitor.at(one).equals(Visitor.at(other))).isEqualTo(same);
  }

  private void pass(long millis) {
    now.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  private static Arguments scanner(String how, IntToLongFunction numbers) {
    return Arguments.of(how, numbers);
  }
}
