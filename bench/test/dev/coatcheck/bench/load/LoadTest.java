package dev.coatcheck.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.bench.machine.MeasureFailed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The generators in processes of their own: wrk, and that of our own. */
class LoadTest {
  private static final String OUTPUT =
      """
      Running 2s test @ http://127.0.0.1:8080/
        1 threads and 64 connections
        Thread Stats   Avg      Stdev     Max   +/- Stdev
          Latency     1.03ms    1.05ms  25.88ms   98.46%
          Req/Sec    65.13k     6.34k   73.14k    75.00%
        130000 requests in 2.00s, 25.00MB read
      Requests/sec:  64950.00
      Transfer/sec:     12.40MB
      coatcheck requests=130000 micros=2001543 p50=930.000000 p99=2840.500000\
       connect=0 read=0 write=0 timeout=0 status=0
      """;

  @Test
  void theFiguresOfWrkAreRead() {
    assertThat(Wrk.parse(OUTPUT))
        .isEqualTo(new LoadResult(130_000, 0, 0, 2.001543, 0.93, 2.8405, List.of()));
  }

  @Test
  void whatWrkCountsAsErrorsIsNotServed() {
    LoadResult result =
        Wrk.parse(
            OUTPUT
                .replace("connect=0 read=0 write=0 timeout=0", "connect=1 read=2 write=3 timeout=4")
                .replace("status=0", "status=1000"));

    assertThat(result.served()).isEqualTo(129_000);
    assertThat(result.refused()).isEqualTo(1_000);
    assertThat(result.broken()).isEqualTo(10);
  }

  @Test
  void anotherOutputOfWrkIsAnErrorThatShowsIt() {
    assertThatThrownBy(() -> Wrk.parse("unable to connect to 127.0.0.1:1 Connection refused\n"))
        .isInstanceOf(MeasureFailed.class)
        .hasMessageContaining("Connection refused");
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void wrkSendsTheSameRequestsAsTheGeneratorOfOurOwn(@TempDir Path folder) throws IOException {
    assumeTrue(Wrk.isInstalled(), "wrk is not installed");
    Path ids = Files.writeString(folder.resolve("ids"), "a1\na2\na3\n");
    for (Generator generator : Generator.values()) {
      try (StubServer server = StubServer.start(_ -> 200)) {
        try (Load load = Load.of(post(server, "/v1/{id}", Optional.of(ids)), generator)) {
          LoadResult result = load.closed(Duration.ofSeconds(1)).requireServed("x");

          assertThat(result.served()).isGreaterThan(3).isLessThanOrEqualTo(server.requests());
          assertThat(result.p99Millis()).isPositive();
          assertThat(server.firstLines())
              .as(generator.text())
              .containsExactlyInAnyOrder(
                  "POST /v1/a1 HTTP/1.1", "POST /v1/a2 HTTP/1.1", "POST /v1/a3 HTTP/1.1");
        }
      }
    }
  }

  private static LoadSpec post(StubServer server, String path, Optional<Path> ids) {
    LoadSpec spec = server.spec(2);
    return new LoadSpec(
        spec.host(), spec.port(), 2, "POST", path, Map.of("X", "\"\\'\t$"), "", ids);
  }

  @Test
  void aStringOfLuaIsWhatItWas() {
    LoadSpec spec =
        new LoadSpec(
            "h", 1, 1, "POST", "/", Map.of("X", "\"\\"), "{\"a\":\"1\"}", Optional.empty());

    assertThat(Wrk.script(spec))
        .startsWith(
            "local before = \"POST / HTTP/1.1\\013\\010Host: h:1\\013\\010X: \\034\\092\\013\\010"
                + "Content-Length: 9\\013\\010\\013\\010{\\034a\\034:\\0341\\034}\"\n"
                + "local after = \"\"\n");
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void theGeneratorOfOurOwnRunsOneLoadAfterAnother() throws IOException {
    try (StubServer server = StubServer.start(_ -> 200);
        Load load = Load.of(server.spec(2), Generator.OWN)) {
      int first = server.requests();
      LoadResult closed = load.closed(Duration.ofMillis(200)).requireServed("x");
      int second = server.requests();
      LoadResult open = load.open(Duration.ofSeconds(1), 100).requireServed("x");

      assertThat(first).isEqualTo(2);
      assertThat(closed.served()).isEqualTo(second - first);
      assertThat(open.served()).isEqualTo(100);
      assertThat(open.timeline()).isNotEmpty();
    }
  }

  @Test
  void aServerThatDoesNotAnswerWithSuccessIsNotMeasured() throws IOException {
    requireRefused(404);
  }

  @Test
  @Tag("faults") // tries for ten seconds
  @Tag("alone")
  void aServerThatBreaksOffEachRequestIsNotMeasured() throws IOException {
    requireRefused(0);
  }

  private static void requireRefused(int status) throws IOException {
    try (StubServer server = StubServer.start(_ -> status)) {
      assertThatThrownBy(() -> Load.of(server.spec(2), Generator.OWN))
          .isInstanceOf(MeasureFailed.class);
    }
  }
}
