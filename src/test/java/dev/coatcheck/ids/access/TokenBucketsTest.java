package dev.coatcheck.ids.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.ids.access.TokenBuckets.Taken;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TokenBucketsTest {
  private static final RateLimit TEN_IN_FIVE_SECONDS = new RateLimit(10, 5);
  private static final RateLimit ONE_AN_HOUR = new RateLimit(1, 3_600);

  // Before the clock of the machine overflows, as it may.
  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final TokenBuckets<String> buckets = new TokenBuckets<>(now::get);

  @Test
  void theWholeQuotaMayComeAtOnceAndNoRequestMore() {
    for (int left = 9; left >= 0; left--) {
      assertThat(buckets.take("a", TEN_IN_FIVE_SECONDS))
          .isEqualTo(new Taken.Granted(left, (10 - left + 1) / 2));
    }
    assertThat(buckets.take("a", TEN_IN_FIVE_SECONDS)).isEqualTo(new Taken.Refused(0, 1));
    assertThat(buckets.take("b", TEN_IN_FIVE_SECONDS)).isEqualTo(new Taken.Granted(9, 1));
  }

  @Test
  void aBucketFillsEvenlyAndNotBeyondItsQuota() {
    empty("a", TEN_IN_FIVE_SECONDS);

    pass(Duration.ofMillis(499));
    assertThat(isGranted("a", TEN_IN_FIVE_SECONDS)).isFalse();
    pass(Duration.ofMillis(1));
    assertThat(isGranted("a", TEN_IN_FIVE_SECONDS)).isTrue();
    assertThat(isGranted("a", TEN_IN_FIVE_SECONDS)).isFalse();
    pass(Duration.ofHours(1));
    assertThat(empty("a", TEN_IN_FIVE_SECONDS)).isEqualTo(10);
  }

  /** The shortest and the longest limits, and those whose tokens take no whole nanoseconds. */
  @ParameterizedTest
  @CsvSource({"1, 1", "1, 3600", "3, 1", "7, 3600", "999999, 1", "1000000, 1", "1000000, 3600"})
  void aCallerGetsItsQuotaInEachWindowAndAtMostTwice(int requests, int seconds) {
    RateLimit limit = new RateLimit(requests, seconds);
    assertThat(buckets.take("a", limit, requests, 0)).isInstanceOf(Taken.Granted.class);
    assertThat(isGranted("a", limit)).isFalse();

    pass(Duration.ofSeconds(seconds).plusMillis(1));

    assertThat(buckets.take("a", limit, requests, 0)).isInstanceOf(Taken.Granted.class);
    assertThat(isGranted("a", limit)).isFalse();
  }

  @Test
  void whoWaitsAsLongAsToldIsServed() {
    for (RateLimit limit : List.of(TEN_IN_FIVE_SECONDS, ONE_AN_HOUR, new RateLimit(7, 1))) {
      String caller = limit.toString();
      empty(caller, limit);
      Taken.Refused refused = (Taken.Refused) buckets.take(caller, limit);
      pass(Duration.ofSeconds(refused.waitSeconds()));
      assertThat(isGranted(caller, limit)).as(caller).isTrue();
    }
  }

  @Test
  void aBatchIsGrantedAsAWholeOrNotAtAll() {
    assertThat(buckets.take("a", TEN_IN_FIVE_SECONDS)).isEqualTo(new Taken.Granted(9, 1));
    assertThat(buckets.take("a", TEN_IN_FIVE_SECONDS, 10, 1)).isEqualTo(new Taken.Granted(0, 5));

    pass(Duration.ofSeconds(2));
    assertThat(buckets.take("a", TEN_IN_FIVE_SECONDS)).isEqualTo(new Taken.Granted(3, 4));
    assertThat(buckets.take("a", TEN_IN_FIVE_SECONDS, 6, 1)).isEqualTo(new Taken.Refused(3, 2));
    // The whole request is repeated, so its first token is taken again.
    pass(Duration.ofMillis(1_500));
    assertThat(buckets.take("a", TEN_IN_FIVE_SECONDS)).isEqualTo(new Taken.Granted(5, 3));
    assertThat(buckets.take("a", TEN_IN_FIVE_SECONDS, 6, 1)).isEqualTo(new Taken.Granted(0, 5));
  }

  @Test
  void whatWouldNeverBeGrantedIsABug() {
    assertThatThrownBy(() -> buckets.take("a", TEN_IN_FIVE_SECONDS, 11, 0))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void threadsOfOneCallerShareItsQuotaExactly() throws Exception {
    RateLimit limit = new RateLimit(1_000, 3_600);
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<Integer>> granted = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        granted.add(threads.submit(() -> granted("shared", limit, 1_000)));
      }
      int all = 0;
      for (Future<Integer> each : granted) {
        all += each.get();
      }
      assertThat(all).isEqualTo(1_000);
    }
  }

  @Test
  void aFloodOfOthersLeavesTheQuotaOfACaller() {
    TokenBuckets<String> few = new TokenBuckets<>(now::get, 100);
    for (int other = 0; other < 10_000; other++) {
      assertThat(few.take("other " + other, TEN_IN_FIVE_SECONDS)).isInstanceOf(Taken.Granted.class);
    }
    assertThat(few.size()).isEqualTo(100);
    assertThat(few.take("a", TEN_IN_FIVE_SECONDS)).isEqualTo(new Taken.Granted(9, 1));
  }

  @Test
  void anEmptyBucketIsNeverPushedOut() {
    TokenBuckets<String> few = new TokenBuckets<>(now::get, 100);
    assertThat(few.take("attacker", TEN_IN_FIVE_SECONDS, 10, 0)).isInstanceOf(Taken.Granted.class);

    for (int other = 0; other < 10_000; other++) {
      Taken _ = few.take("other " + other, TEN_IN_FIVE_SECONDS);
    }

    assertThat(few.take("attacker", TEN_IN_FIVE_SECONDS)).isEqualTo(new Taken.Refused(0, 1));
  }

  /** Whichever of them it is: the place of a bucket is that of its hash. */
  @ParameterizedTest
  @ValueSource(strings = {"a", "b", "c", "d", "e", "f", "g", "h"})
  void whereNoBucketIsFullTheFullestOfEightMakesRoom(String fullest) {
    TokenBuckets<String> few = new TokenBuckets<>(now::get, 8);
    for (String caller : List.of("a", "b", "c", "d", "e", "f", "g", "h")) {
      Taken _ = few.take(caller, TEN_IN_FIVE_SECONDS, caller.equals(fullest) ? 1 : 9, 0);
    }

    assertThat(few.take("new", TEN_IN_FIVE_SECONDS)).isEqualTo(new Taken.Granted(9, 1));

    for (String caller : List.of("a", "b", "c", "d", "e", "f", "g", "h")) {
      if (!caller.equals(fullest)) {
        assertThat(few.take(caller, TEN_IN_FIVE_SECONDS, 1, 0).left()).as(caller).isZero();
      }
    }
  }

  @Test
  void withEveryBucketEmptyANewCallerIsRefusedUntilOneFills() {
    TokenBuckets<String> few = new TokenBuckets<>(now::get, 100);
    RateLimit limit = new RateLimit(2, 10);
    for (int other = 0; other < 100; other++) {
      assertThat(few.take("other " + other, limit, 2, 0)).isInstanceOf(Taken.Granted.class);
    }
    assertThat(few.take("new", limit)).isEqualTo(new Taken.Refused(0, 1));
    assertThat(few.size()).isEqualTo(100);

    pass(Duration.ofSeconds(5));

    assertThat(few.take("new", limit)).isInstanceOf(Taken.Granted.class);
    assertThat(few.size()).isEqualTo(100);
  }

  @Test
  void aLimitIsWrittenAsRequestsAndSeconds() {
    assertThat(RateLimit.parse("1000/1")).contains(new RateLimit(1_000, 1));
    assertThat(RateLimit.parse("1000000/3600")).contains(new RateLimit(1_000_000, 3_600));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "1000",
        "0/1",
        "1/0",
        "1000001/1",
        "1/3601",
        "-1/1",
        "1/1/1",
        " 1/1",
        "1.5/1",
        "99999999999999999999/1"
      })
  void otherTextsAreNoLimits(String text) {
    assertThat(RateLimit.parse(text)).isEmpty();
  }

  private int empty(String caller, RateLimit limit) {
    int granted = 0;
    while (isGranted(caller, limit)) {
      granted++;
    }
    return granted;
  }

  private int granted(String caller, RateLimit limit, int requests) {
    int granted = 0;
    for (int request = 0; request < requests; request++) {
      granted += isGranted(caller, limit) ? 1 : 0;
    }
    return granted;
  }

  private boolean isGranted(String caller, RateLimit limit) {
    return buckets.take(caller, limit) instanceof Taken.Granted;
  }

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }
}
