package dev.coatcheck.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.bench.machine.MeasureFailed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The generator of our own: what it counts, and from when it measures. */
class HttpLoopTest {
  private static final Duration SHORT = Duration.ofMillis(300);

  /**
   * Two connections and 200 requests a second: a second of silence delays two requests that are
   * under way, and two hundred that could not be sent. The latter are what users would feel.
   */
  @Test
  @Tag("faults")
  @Tag("alone")
  void aPauseOfASecondShowsAtThe99thPercentileOfAnOpenLoop() throws IOException {
    try (StubServer server = StubServer.pausingAt(200)) {
      LoadResult result = new HttpLoop(server.spec(2), false).open(Duration.ofSeconds(4), 200);

      assertThat(result.served()).isEqualTo(800);
      assertThat(result.p99Millis()).isBetween(900.0, 10_000.0);
      assertThat(result.timeline().stream().mapToLong(LoadResult.Second::served).sum())
          .isEqualTo(800);
      assertThat(result.timeline()).anyMatch(second -> second.p99Millis() > 900);
    }
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void aClosedLoopDoesNotSeeThePause() throws IOException {
    try (StubServer server = StubServer.pausingAt(200)) {
      LoadResult result = new HttpLoop(server.spec(2), false).closed(Duration.ofSeconds(3));

      assertThat(result.served()).isGreaterThan(400);
      assertThat(result.p99Millis()).isLessThan(900);
    }
  }

  @Test
  void anOpenLoopSendsWhatIsDueAndNoMore() throws IOException {
    try (StubServer server = StubServer.start(_ -> 200)) {
      LoadResult result = new HttpLoop(server.spec(4), true).open(Duration.ofSeconds(1), 150);

      assertThat(result.served()).isEqualTo(150);
      assertThat(server.requests()).isEqualTo(150);
      assertThat(result.seconds()).isGreaterThan(0.9);
    }
  }

  @Test
  void refusalsAreCountedApartAndAreNoCapacity() throws IOException {
    try (StubServer server =
        StubServer.start(number -> number % 3 == 0 ? 503 : number % 3 == 1 ? 429 : 200)) {
      LoadResult result = new HttpLoop(server.spec(3), false).closed(SHORT);

      assertThat(result.served() + result.refused()).isEqualTo(server.requests());
      assertThat(result.refused()).isBetween(result.served(), result.served() * 2 + 3);
      assertThatThrownBy(() -> result.requireServed("x"))
          .isInstanceOf(MeasureFailed.class)
          .hasMessageContaining("refused");
    }
  }

  @Test
  void aConnectionThatBreaksOffIsCountedAndReplaced() throws IOException {
    try (StubServer server = StubServer.start(number -> number == 5 ? 0 : 200)) {
      LoadResult result = new HttpLoop(server.spec(1), false).closed(SHORT);

      assertThat(result.broken()).isOne();
      assertThat(result.served()).isEqualTo(server.requests() - 1).isGreaterThan(5);
      assertThatThrownBy(() -> result.requireServed("x")).hasMessageContaining("1 broken off");
    }
  }

  @Test
  void anErrorOfTheRequestEndsTheLoad() throws IOException {
    try (StubServer server = StubServer.start(_ -> 404)) {
      HttpLoop loop = new HttpLoop(server.spec(1), false);

      assertThatThrownBy(() -> loop.closed(SHORT)).hasMessageContaining("404 to GET /x");
    }
  }

  @Test
  void eachRequestAsksForOneOfTheIds(@TempDir Path folder) throws IOException {
    Path ids = Files.writeString(folder.resolve("ids"), "a1\na2\na3\n");
    try (StubServer server = StubServer.start(_ -> 200)) {
      LoadSpec spec = server.spec(2);
      LoadSpec all =
          new LoadSpec(
              spec.host(),
              spec.port(),
              2,
              "GET",
              "/v1/{id}/x",
              Map.of("A", "b"),
              "",
              Optional.of(ids));

      LoadResult result = new HttpLoop(all, false).open(Duration.ofSeconds(1), 200);

      assertThat(result.served()).isEqualTo(200);
      assertThat(server.firstLines())
          .containsExactlyInAnyOrder(
              "GET /v1/a1/x HTTP/1.1", "GET /v1/a2/x HTTP/1.1", "GET /v1/a3/x HTTP/1.1");
    }
  }

  @Test
  void idsOfDifferentLengthsAreRefused(@TempDir Path folder) throws IOException {
    Path ids = Files.writeString(folder.resolve("ids"), "a1\na22\n");

    assertThatThrownBy(() -> Ids.read(Optional.of(ids))).hasMessageContaining("not of one length");
  }
}
