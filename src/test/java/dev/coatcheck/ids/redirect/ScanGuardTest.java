package dev.coatcheck.ids.redirect;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntToLongFunction;
import java.util.function.LongUnaryOperator;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ScanGuardTest {
  private static final int TYPE = 1;
  private static final Visitor ONE = Visitor.at(InetAddress.ofLiteral("192.0.2.1"));
  private static final Visitor OTHER = Visitor.at(InetAddress.ofLiteral("192.0.2.2"));

  private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long BYTES_MAX = 32L << 20;

  private static int visitors;

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
        scanner("a page of 40 links", i -> 4_711 + i % ScanGuard.NUMBERS_MAX),
        scanner("three such pages", i -> 1_000L * (i % 3) + i / 3 % ScanGuard.NUMBERS_MAX + 1),
        scanner("two pages of 18", i -> i % 2 == 0 ? 100 + i / 2 % 18 : 90_000 + i / 2 % 18));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("honest")
  void anHonestVisitorIsNot(String how, IntToLongFunction numbers) {
    for (int i = 0; i < 500; i++) {
      pass(510);
      assertThat(guard.asked(ONE, TYPE, numbers.applyAsLong(i))).as("%s, %s", how, i).isZero();
    }
    assertThat(guard.refusedSeconds(ONE)).isZero();
  }

  /** A browser fetches all links of a page ahead, and again when it is opened again. */
  @Test
  void pagesOf40LinksAreFetchedAtOnce() {
    for (int page = 0; page < 200; page++) {
      for (int link = 1; link <= ScanGuard.NUMBERS_MAX; link++) {
        assertThat(guard.asked(ONE, TYPE, page / 9 * 1_000L + link)).isZero();
      }
      pass(6_000);
    }
  }

  @Test
  void whoReadsAnArchivePageAfterPageIsNotStopped() {
    for (int page = 1; page <= 2_000; page++) {
      pass(page % 10 == 0 ? 6_000 : 1_100);
      assertThat(guard.asked(ONE, TYPE, page)).as("page %s", page).isZero();
    }
  }

  static Stream<Arguments> turns() {
    return IntStream.rangeClosed(1, 32)
        .boxed()
        .flatMap(regions -> Stream.of(1, 3, 40).map(inARow -> Arguments.of(regions, inARow)));
  }

  /** In each region one by one, in steps that are their own, and shuffled. */
  @ParameterizedTest
  @MethodSource("turns")
  void scansThatTakeTurnsAreStopped(int regions, int inARow) {
    List<Long> shuffled = new ArrayList<>(LongStream.range(0, 10_000).boxed().toList());
    Collections.shuffle(shuffled, new Random(3));
    for (LongUnaryOperator way :
        List.<LongUnaryOperator>of(n -> n, n -> -n, n -> 1_000 * n, n -> shuffled.get((int) n))) {
      Visitor visitor = nextVisitor();
      int asked = 0;
      while (asked < 2_000 && guard.refusedSeconds(visitor) == 0) {
        int turn = asked / inARow;
        long inRegion = (long) turn / regions * inARow + asked % inARow;
        long number = 1_000_000_000L * (1 + turn % regions) + way.applyAsLong(inRegion);
        int type = TYPE + turn % regions % 5;
        pass(20);
        guard.asked(visitor, type, number);
        asked++;
      }
      assertThat(asked).isLessThanOrEqualTo(ScanGuard.ALTOGETHER_MAX + 1);
    }
  }

  /** Whatever is asked, what was granted within any minute is what the documentation says. */
  @Test
  void noVisitorGetsMoreThanIsDocumented() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 60; round++) {
      Visitor visitor = nextVisitor();
      List<Granted> granted = new ArrayList<>();
      int regions = 1 + random.nextInt(32);
      int width = 1 + random.nextInt(400);
      for (int i = 0; i < 1_000; i++) {
        pass(random.nextInt(round % 2 == 0 ? 60 : 1_200));
        long number = 100_000L * (1 + random.nextInt(regions)) + random.nextInt(width);
        granted.removeIf(each -> now.get() - each.nanos() >= MINUTE_NANOS);
        if (guard.refusedSeconds(visitor) == 0
            && guard.asked(visitor, TYPE, number) == 0
            && granted.stream().noneMatch(each -> each.number() == number)) {
          granted.add(new Granted(number, now.get()));
        }
        long[] numbers = granted.stream().mapToLong(Granted::number).sorted().toArray();
        String cause = "seed %s, round %s, request %s".formatted(seed, round, i);
        assertThat(numbers.length).as(cause).isLessThanOrEqualTo(ScanGuard.ALTOGETHER_MAX);
        assertThat(longestStretch(numbers)).as(cause).isLessThanOrEqualTo(ScanGuard.NUMBERS_MAX);
      }
    }
  }

  private record Granted(long number, long nanos) {}

  private static int longestStretch(long[] sorted) {
    int longest = 0;
    int length = 0;
    for (int i = 0; i < sorted.length; i++) {
      length = i > 0 && sorted[i] - sorted[i - 1] <= 16 ? length + 1 : 1;
      longest = Math.max(longest, length);
    }
    return longest;
  }

  @Test
  void requestsThatComeAtATimeGetNoMore() throws Exception {
    AtomicInteger granted = new AtomicInteger();
    try (ExecutorService callers = Executors.newFixedThreadPool(8)) {
      for (int n = 1; n <= 1_000; n++) {
        int number = n;
        var _ =
            callers.submit(
                () -> guard.asked(ONE, TYPE, number) == 0 ? granted.incrementAndGet() : 0);
      }
    }
    assertThat(granted).hasValue(ScanGuard.NUMBERS_MAX);
    assertThat(guard.refusedSeconds(ONE)).isEqualTo(60);
  }

  /** As many scan as are remembered, and many more ask once. */
  @Test
  @Tag("faults")
  void aHundredThousandScannersAreRefusedUntilTheirTimeAndTake32MbAtMost() {
    long before = usedBytes();
    ScanGuard crowded = new ScanGuard(now::get);
    for (int n = 1; n <= ScanGuard.NUMBERS_MAX; n++) {
      int number = n;
      assertThat(refused(0, scanner -> crowded.asked(scanner, TYPE, number))).isEqualTo(0);
    }
    assertThat(usedBytes() - before).as("watched").isLessThan(BYTES_MAX);
    assertThat(refused(0, scanner -> crowded.asked(scanner, TYPE, 41)))
        .isEqualTo(60 * ScanGuard.VISITORS_MAX);
    assertThat(usedBytes() - before).as("refused").isLessThan(BYTES_MAX);
    for (int others = 1; others <= 3; others++) {
      int first = others * ScanGuard.VISITORS_MAX;
      assertThat(refused(first, other -> crowded.asked(other, TYPE, 7))).isZero();
    }
    assertThat(usedBytes() - before).as("both").isLessThan(BYTES_MAX);

    pass(59_000);
    assertThat(refused(0, crowded::refusedSeconds)).isEqualTo(ScanGuard.VISITORS_MAX);
    // There is no room for the refusal of one more, who gets no more all the same.
    for (int n = 1; n <= 100; n++) {
      assertThat(crowded.asked(ONE, TYPE, n) > 0).as("number %s", n).isEqualTo(n > 40);
    }
    pass(1_000);
    assertThat(crowded.refusedSeconds(ONE)).isZero();
    assertThat(crowded.asked(ONE, TYPE, 101)).isEqualTo(60);
    assertThat(crowded.refusedSeconds(ONE)).as("there is room now").isEqualTo(60);
  }

  /** The seconds of as many visitors as are remembered, in all. */
  private static int refused(int first, ToIntFunction<Visitor> ask) {
    int seconds = 0;
    for (int number = 0; number < ScanGuard.VISITORS_MAX; number++) {
      seconds += ask.applyAsInt(new Visitor(true, first + number));
    }
    return seconds;
  }

  private static long usedBytes() {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      Runtime jvm = Runtime.getRuntime();
      least = Math.min(least, jvm.totalMemory() - jvm.freeMemory());
    }
    return least;
  }

  /** Others fill the memory with numbers that lie apart, as fast as they may. */
  @Test
  void whenTheMemoryIsFullAScannerIsStoppedAndAReaderIsNot() {
    for (int flooder = 0; flooder < 5_000; flooder++) {
      for (int n = 1; n <= ScanGuard.ALTOGETHER_MAX; n++) {
        guard.asked(new Visitor(true, flooder), TYPE, 1_000_000L * n * n);
      }
    }
    for (int n = 1; n <= ScanGuard.NUMBERS_MAX; n++) {
      assertThat(guard.asked(ONE, TYPE, 1_000L * n * n)).isZero();
      assertThat(guard.asked(ONE, TYPE, 1_000L * n * n)).as("again").isZero();
      assertThat(guard.asked(OTHER, TYPE, 4_711 + n % 20)).isZero();
    }
    assertThat(guard.asked(ONE, TYPE, 41)).isEqualTo(60);
    assertThat(guard.refusedSeconds(OTHER)).isZero();
    pass(60_000);
    for (int n = 1; n <= ScanGuard.ALTOGETHER_MAX; n++) {
      assertThat(guard.asked(OTHER, TYPE, 1_000L * n * n)).as("number %s", n).isZero();
    }
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
      pass(900);
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
    "::c000:201:0:0:0:0, 192.0.2.1, false"
  })
  void aVisitorIsAnIpv4AddressOrASlash64(String one, String other, boolean same) {
    assertThat(
            Visitor.at(InetAddress.ofLiteral(one)).equals(Visitor.at(InetAddress.ofLiteral(other))))
        .isEqualTo(same);
  }

  private static Visitor nextVisitor() {
    int number = visitors++;
    return Visitor.at(InetAddress.ofLiteral("198.18." + number / 256 + "." + number % 256));
  }

  private void pass(long millis) {
    now.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  private static Arguments scanner(String how, IntToLongFunction numbers) {
    return Arguments.of(how, numbers);
  }
}
