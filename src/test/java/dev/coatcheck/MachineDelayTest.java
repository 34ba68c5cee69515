package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
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
  void theDelayIsMeasured() {
    try (MachineDelay delay = MachineDelay.measure()) {
      await().until(() -> delay.p99().isPositive());
      assertThat(delay.p99()).isLessThan(Duration.ofMinutes(1));
    }
  }

  private static void require(long tookMillis, long delayMillis) {
    MachineDelay.requireWithin(
        BOUND, Duration.ofMillis(tookMillis), Duration.ofMillis(delayMillis));
  }
}
