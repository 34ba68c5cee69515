package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;

class MachineDelayTest {
  private static final Duration BOUND = Duration.ofSeconds(1);

  @Test
  void theDelayIsAddedToTheBoundAndNoMore() {
    assertThatCode(() -> require(1_099, 100)).doesNotThrowAnyException();
    assertThatThrownBy(() -> require(1_100, 100)).isInstanceOf(AssertionError.class);
    assertThatThrownBy(() -> require(1_000, 0)).isInstanceOf(AssertionError.class);
    assertThatThrownBy(() -> require(1_250, 250)).isInstanceOf(AssertionError.class);
  }

  @Test
  void aMachineThatIsTooLateSkipsOnlyWhatWouldFail() {
    assertThatThrownBy(() -> require(1_000, 251))
        .isInstanceOf(TestAbortedException.class)
        .hasMessageContaining("251 ms late");
    assertThatCode(() -> require(999, 251)).doesNotThrowAnyException();
  }

  @Test
  void aStandstillIsAddedToTheBoundOfWhatItHeldUp() {
    assertThat(standstill(nap(2_000, 640), nap(2_600, 300))).hasMillis(940);
    assertThat(standstill(nap(1_100, 640))).as("began before").hasMillis(100);
    assertThat(standstill(nap(900, 640))).as("was over").isZero();
    assertThat(standstill(nap(2_000, 20), nap(2_300, 20))).as("a delay as others").isZero();
    assertThat(standstill(30, nap(2_000, 30), nap(2_300, 31))).hasMillis(31);
  }

  @Test
  void theDelayIsMeasured() {
    try (MachineDelay delay = MachineDelay.measure()) {
      await().until(() -> delay.p99().isPositive());
      assertThat(delay.p99()).isLessThan(Duration.ofMinutes(1));
    }
  }

  /** Since a second after the beginning. */
  private static Duration standstill(MachineDelay.Nap... naps) {
    return standstill(0, naps);
  }

  private static Duration standstill(long othersMillis, MachineDelay.Nap... naps) {
    return MachineDelay.standstill(
        Stream.of(naps), 1_000 * 1_000_000L, Duration.ofMillis(othersMillis));
  }

  private static MachineDelay.Nap nap(long wokenMillis, long delayMillis) {
    return new MachineDelay.Nap(wokenMillis * 1_000_000L, delayMillis * 1_000_000L);
  }

  private static void require(long tookMillis, long delayMillis) {
    MachineDelay.requireWithin(
        BOUND, Duration.ofMillis(tookMillis), Duration.ofMillis(delayMillis));
  }
}
