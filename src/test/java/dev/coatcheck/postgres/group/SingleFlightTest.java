package dev.coatcheck.postgres.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class SingleFlightTest {
  private static final long LONG_NANOS = Duration.ofMinutes(5).toNanos();

  private final SingleFlight<String, String> flights = new SingleFlight<>();
  private final CompletableFuture<Runnable> begun = new CompletableFuture<>();

  @Test
  void theSecondCallerGetsTheResultOfTheFirstAndTheThirdBeginsAnew() {
    Future<String> first = flights.start("key", begun::complete, () -> "first");
    Future<String> second = flights.start("key", Runnable::run, () -> "second");
    assertThat(second.isDone()).isFalse();
    assertThat(flights.call("other", () -> "other", _ -> "followed")).isEqualTo("other");
    assertThat(flights.call("key", () -> "own", _ -> "followed")).isEqualTo("followed");
    begun.join().run();

    assertThat(SingleFlight.await(first, 0)).contains("first");
    assertThat(SingleFlight.await(second, LONG_NANOS)).contains("first");
    assertThat(flights.call("key", () -> "own", _ -> "followed")).isEqualTo("own");
  }

  @Test
  void aFailureReachesAllItsCallersAndNobodyAfterThem() {
    Future<String> follower = flights.start("key", begun::complete, SingleFlightTest::failed);
    begun.join().run();

    assertThatThrownBy(() -> SingleFlight.await(follower, 0)).hasMessage("failed");
    assertThatThrownBy(() -> flights.call("key", SingleFlightTest::failed, _ -> "followed"))
        .hasMessage("failed");
    assertThat(flights.call("key", () -> "own", _ -> "followed")).isEqualTo("own");
  }

  @Test
  void workThatIsRefusedIsNotUnderWay() {
    Future<String> refused =
        flights.start(
            "key",
            _ -> {
              throw new RejectedExecutionException("full");
            },
            () -> "never");

    assertThatThrownBy(() -> SingleFlight.await(refused, 0)).hasMessage("full");
    assertThat(flights.call("key", () -> "own", _ -> "followed")).isEqualTo("own");
  }

  @Test
  void aLateResultIsNone() {
    Future<String> late = flights.start("key", _ -> {}, () -> "never");

    assertThat(SingleFlight.await(late, 1)).isEmpty();
  }

  private static String failed() {
    throw new IllegalStateException("failed");
  }
}
