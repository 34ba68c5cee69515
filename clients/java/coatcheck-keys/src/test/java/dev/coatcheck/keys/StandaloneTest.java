package dev.coatcheck.keys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.coatcheck.core.key.KeyReservation;
import dev.coatcheck.core.key.Positions;
import dev.coatcheck.core.key.SnowflakeLayout;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Standalone keys, on a clock that the test sets. */
class StandaloneTest {
  private static final SnowflakeLayout LAYOUT = SnowflakeLayout.DEFAULT;
  private static final long START = Instant.parse("2026-11-26T12:00:00Z").toEpochMilli();
  private static final int SEQUENCES = 4_096;

  @TempDir private Path folder;

  private final AtomicLong wall = new AtomicLong(START);
  private final AtomicLong nanos = new AtomicLong();

  private StandaloneSource source(ClockPolicy policy) {
    return new StandaloneSource(LAYOUT, 7, policy, null, wall::get, nanos::get);
  }

  private StandaloneSource source(Path file) {
    MarkFile mark = MarkFile.open(file, "default", 7);
    return new StandaloneSource(LAYOUT, 7, ClockPolicy.TIERED, mark, wall::get, nanos::get);
  }

  private static long millis(long key) {
    assertThat(key).isNotNegative();
    return LAYOUT.timeOf(key).toEpochMilli();
  }

  private static String refusal(StandaloneSource source) {
    KeyReservation reserved = source.reserve(1);
    assertThat(reserved).isInstanceOf(KeyReservation.Never.class);
    return ((KeyReservation.Never) reserved).reason();
  }

  /** The thread of a request that was given up. */
  @Test
  void anInterruptedThreadLeavesTheStateFileUsable() {
    StandaloneSource source = source(folder.resolve("interrupted"));
    Thread.currentThread().interrupt();
    assertThat(source.key()).isNotNegative();
    assertThat(Thread.interrupted()).isTrue();

    wall.addAndGet(10_000);
    nanos.addAndGet(10_000_000_000L);
    assertThat(millis(source.key())).isEqualTo(START + 10_000);
  }

  /** A thread that is interrupted doesn't park: it would take a whole processor instead. */
  @Test
  void anInterruptedThreadWaitsForAKeyAndStaysInterrupted() {
    CountedSource source = new CountedSource();
    try (Snowflakes keys = new Snowflakes(LAYOUT, source)) {
      for (Runnable draw : List.<Runnable>of(keys::next, () -> keys.nextBatch(2))) {
        source.asked = 0;
        Thread.currentThread().interrupt();
        assertThatThrownBy(draw::run).isInstanceOf(KeysUnavailableException.class);
        assertThat(Thread.interrupted()).isTrue();
        // 50 ms in pauses of 0.1 ms; without them it would be hundreds of thousands.
        assertThat(source.asked).isLessThan(3_000);
      }
    }
  }

  /** Such as one whose other threads take nearly all keys of each millisecond. */
  @Test
  void aBatchThatGetsKeyAfterKeyIsRefusedAfterThreeSeconds() {
    try (Snowflakes keys = new Snowflakes(LAYOUT, new SlowSource())) {
      assertTimeoutPreemptively(
          Duration.ofMinutes(1),
          () ->
              assertThatThrownBy(() -> keys.nextBatch(Snowflakes.BATCH_MAX))
                  .isInstanceOf(KeysUnavailableException.class)
                  .hasMessageContaining("as told"));
    }
  }

  /** A source with a key every 10 ms. */
  private static final class SlowSource implements KeySource {
    private final long begun = System.nanoTime();
    private long given;

    @Override
    public long key() {
      return NONE_NOW;
    }

    @Override
    public KeyReservation reserve(int count) {
      if (given * 10_000_000 > System.nanoTime() - begun) {
        return new KeyReservation.Wait("as told", 1);
      }
      return new KeyReservation.Some(new Positions.Run(given++, 1), 7);
    }

    @Override
    public void awaitFirst() {}

    @Override
    public void close() {}
  }

  /** A source without keys, which counts how often it is asked. */
  private static final class CountedSource implements KeySource {
    private int asked;

    @Override
    public long key() {
      asked++;
      return NONE_NOW;
    }

    @Override
    public KeyReservation reserve(int count) {
      asked++;
      return new KeyReservation.Wait("as told", 1);
    }

    @Override
    public void awaitFirst() {
      assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Override
    public void close() {}
  }

  @Test
  void keysRiseAndCarryTheClocksTimeAndTheWorker() {
    StandaloneSource source = source(ClockPolicy.TIERED);
    long first = source.key();
    long second = source.key();

    assertThat(millis(first)).isEqualTo(START);
    assertThat(LAYOUT.workerOf(first)).isEqualTo(7);
    assertThat(second).isEqualTo(first + 1);
  }

  @Test
  void aMillisecondHasAsManyKeysAsItsSequenceAndNoneIsBorrowed() {
    StandaloneSource source = source(ClockPolicy.TIERED);
    Set<Long> keys = new HashSet<>();
    for (int i = 0; i < SEQUENCES; i++) {
      assertThat(keys.add(source.key())).isTrue();
    }
    assertThat(source.key()).isEqualTo(KeySource.NONE_NOW);
    assertThat(source.reserve(1)).isInstanceOf(KeyReservation.Wait.class);
    wall.incrementAndGet();
    assertThat(millis(source.key())).isEqualTo(START + 1);
  }

  @Test
  void aStepBackOfFiveMillisecondsIsWaitedFor() {
    StandaloneSource source = source(ClockPolicy.TIERED);
    long before = source.key();
    wall.addAndGet(-5);
    assertThat(source.key()).isEqualTo(KeySource.NONE_NOW);
    wall.addAndGet(5);
    assertThat(source.key()).isGreaterThan(before);
  }

  @Test
  void aStepBackOfSixMillisecondsGoesOnFromTheLastKey() {
    StandaloneSource source = source(ClockPolicy.TIERED);
    long before = source.key();
    wall.addAndGet(-6);
    assertThat(source.key()).isEqualTo(before + 1);
  }

  @Test
  void aStepBackOfTwoSecondsGoesOnAndOneMillisecondMoreIsRefusedWithItsSize() {
    StandaloneSource source = source(ClockPolicy.TIERED);
    long before = source.key();
    wall.set(START - 2_000);
    assertThat(source.key()).isEqualTo(before + 1);
    wall.set(START - 2_001);
    assertThat(source.key()).isEqualTo(KeySource.NONE);
    assertThat(refusal(source)).contains("2001 ms behind").contains("tiered");
    wall.set(START - 2_000);
    assertThat(source.key()).isEqualTo(before + 2);
  }

  @Test
  void aRefusalSaysWhenToComeAgain() {
    Snowflakes keys = new Snowflakes(LAYOUT, source(ClockPolicy.TIERED));
    long unused = keys.next();
    wall.addAndGet(-3_600_000);
    assertThatThrownBy(keys::next)
        .isInstanceOfSatisfying(
            KeysUnavailableException.class,
            refused -> assertThat(refused.retryAfter()).isEqualTo(Duration.ofSeconds(3_598)))
        .hasMessageContaining("3600000 ms behind");
    wall.addAndGet(-86_400_000);
    assertThatThrownBy(keys::next)
        .isInstanceOfSatisfying(
            KeysUnavailableException.class,
            refused -> assertThat(refused.retryAfter()).isEqualTo(Duration.ofHours(1)))
        .hasMessageEndingWith("ask again in 3600000 ms");
    assertThatThrownBy(() -> keys.nextBatch(3)).isInstanceOf(KeysUnavailableException.class);
  }

  /** So the machine's clock catches up, and the cap of the layout holds. */
  @Test
  void theLogicalClockRunsAtHalfSpeed() {
    StandaloneSource source = source(ClockPolicy.TIERED);
    long unused = source.key();
    wall.addAndGet(-1_000);
    assertThat(millis(source.key())).isEqualTo(START);
    for (int i = 1; i <= 100; i++) {
      wall.addAndGet(10);
      nanos.addAndGet(10_000_000);
      assertThat(millis(source.key())).isEqualTo(START + 5L * i);
    }
    wall.set(START + 600);
    assertThat(millis(source.key())).as("caught up").isEqualTo(START + 600);
  }

  @Test
  void theLogicalClockKeepsTheCap() {
    StandaloneSource source = source(ClockPolicy.TIERED);
    long last = source.key();
    wall.addAndGet(-1_000);
    for (int i = 1; i < SEQUENCES; i++) {
      last = source.key();
    }
    assertThat(millis(last)).isEqualTo(START);
    assertThat(source.key()).isEqualTo(KeySource.NONE_NOW);
  }

  @Test
  void theStrictPolicyRefusesAnyStepBack() {
    StandaloneSource source = source(ClockPolicy.STRICT);
    long unused = source.key();
    wall.decrementAndGet();
    assertThat(refusal(source)).contains("1 ms behind").contains("strict");
  }

  @Test
  void aPolicyHasBounds() {
    assertThatThrownBy(() -> new ClockPolicy("x", Duration.ofMillis(-1), Duration.ZERO))
        .hasMessageContaining("0 <= waitMax");
    assertThatThrownBy(() -> new ClockPolicy("x", Duration.ofMillis(2), Duration.ofMillis(1)))
        .hasMessageContaining("0 <= waitMax");
    assertThatThrownBy(() -> new ClockPolicy("x", Duration.ZERO, Duration.ofHours(2)))
        .hasMessageContaining("an hour");
  }

  @Test
  void racingThreadsMakeNoKeyTwiceWhileTheClockSteps() throws InterruptedException {
    StandaloneSource source = source(ClockPolicy.TIERED);
    List<Thread> threads = new ArrayList<>();
    List<List<Long>> made = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      List<Long> own = new ArrayList<>();
      made.add(own);
      threads.add(
          new Thread(
              () -> {
                while (own.size() < 50_000) {
                  long key = source.key();
                  if (key >= 0) {
                    own.add(key);
                  } else {
                    wall.incrementAndGet();
                    nanos.addAndGet(1_000_000);
                  }
                  if (own.size() % 5_000 == 1) {
                    wall.addAndGet(-20);
                  }
                }
              }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    Set<Long> all = new HashSet<>();
    for (List<Long> own : made) {
      assertThat(own).isSorted();
      own.forEach(key -> assertThat(all.add(key)).isTrue());
    }
  }

  @Test
  void withAStateFileARestartWithAnEarlierClockRepeatsNothing() {
    Path file = folder.resolve("keys.state");
    StandaloneSource before = source(file);
    long last = before.key();
    before.close();
    wall.addAndGet(-1_500);
    StandaloneSource after = source(file);
    assertThat(afterTheMark(after)).isGreaterThan(last);
    after.close();

    wall.addAndGet(-10_000);
    StandaloneSource late = source(file);
    assertThat(refusal(late)).contains("ms behind the last key");
    late.close();
  }

  /** The millisecond of the mark may have been used up, so the first key is one of the next. */
  private long afterTheMark(StandaloneSource source) {
    assertThat(source.key()).isEqualTo(KeySource.NONE_NOW);
    nanos.addAndGet(2_000_000);
    return source.key();
  }

  /** The mark lies ahead of the keys: what is killed writes no last one. */
  @Test
  void withAStateFileAKilledGeneratorsKeysAreNotRepeated() throws Exception {
    Path file = folder.resolve("keys.state");
    StandaloneSource killed = source(file);
    long last = killed.key();
    wall.addAndGet(1_999);
    last = Math.max(last, killed.key());
    Path copy = Files.copy(file, folder.resolve("copy.state"));
    wall.addAndGet(-1_999);
    StandaloneSource after = source(copy);
    assertThat(afterTheMark(after)).isGreaterThan(last);
    killed.close();
    after.close();
  }

  @Test
  void aStateFileIsForOneGeneratorOfOneWorker() throws Exception {
    Path file = folder.resolve("keys.state");
    StandaloneSource source = source(file);
    long unused = source.key();
    assertThatThrownBy(() -> source(file))
        .isInstanceOf(UncheckedIOException.class)
        .hasStackTraceContaining("another generator");
    assertThat(anotherProcessCanLock(file)).isFalse();
    source.close();
    assertThat(anotherProcessCanLock(file)).isTrue();
    assertThatThrownBy(() -> MarkFile.open(file, "default", 8))
        .hasStackTraceContaining("of this layout and worker");
    Files.writeString(file, "coatcheck-keys 1 default 7 soon");
    assertThatThrownBy(() -> source(file)).hasStackTraceContaining("has no mark");
  }

  private static boolean anotherProcessCanLock(Path file) throws Exception {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    URI classes = Locker.class.getProtectionDomain().getCodeSource().getLocation().toURI();
    Process locker =
        new ProcessBuilder(
                java, "-cp", Path.of(classes).toString(), Locker.class.getName(), file.toString())
            .inheritIO()
            .start();
    return locker.waitFor() == 0;
  }

  /** Another process, which ends with 0 if it could lock the file, else with 3. */
  static final class Locker {
    public static void main(String[] arguments) throws IOException {
      try (FileChannel file =
          FileChannel.open(
              Path.of(arguments[0]), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        System.exit(file.tryLock() == null ? 3 : 0);
      }
    }
  }

  /** A pipe takes no marks, since nothing can be written at a place of it. */
  @Test
  void aLastMarkThatFailsLetsTheStateFileGo() throws Exception {
    Path pipe = folder.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    try (RandomAccessFile other = new RandomAccessFile(pipe.toFile(), "rw")) {
      for (int i = 0; i < 2; i++) {
        other.writeBytes("coatcheck-keys 1 default 7 " + START);
        StandaloneSource source = source(pipe);
        assertThatThrownBy(source::close).hasMessageContaining("can't write the state file");
      }
    }
  }

  @Test
  void afterItsCloseAGeneratorSaysSo() {
    for (StandaloneSource source :
        List.of(source(ClockPolicy.TIERED), source(folder.resolve("closed")))) {
      assertThat(source.key()).isNotNegative();
      source.close();
      wall.addAndGet(10_000);
      assertThat(source.key()).isEqualTo(KeySource.NONE);
      assertThat(refusal(source)).isEqualTo("these keys are closed");
    }
  }

  @Test
  void theRealClockMakesKeysInBatchesToo() {
    try (Snowflakes keys = Snowflakes.standalone(7).layout("wide-sequence").open()) {
      long[] batch = keys.nextBatch(Snowflakes.BATCH_MAX);
      assertThat(batch).hasSize(Snowflakes.BATCH_MAX).isSorted().doesNotHaveDuplicates();
      assertThat(keys.next()).isGreaterThan(batch[batch.length - 1]);
      assertThatThrownBy(() -> keys.nextBatch(0)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> keys.nextBatch(Snowflakes.BATCH_MAX + 1))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aWorkerThatTheLayoutHasNotIsRefused() {
    assertThatThrownBy(() -> Snowflakes.standalone(1_024).open())
        .hasMessageContaining("not within 0..1023");
  }
}
