package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the image is made of, as far as it can be judged without a Docker engine. */
class ImageTest {
  private static final Path PROBE = Path.of("ops", "image", "healthy");

  @BeforeAll
  static void tools() {
    assumeTrue(CoatcheckProgram.isInstalled("bash"), "bash is not installed");
  }

  @ParameterizedTest
  @CsvSource({"200, 0", "503, 1", "404, 1"})
  void theProbeSaysWhatTheGatewaySays(int answer, int status) throws Exception {
    HttpServer gateway =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    gateway.createContext(
        "/health/ready",
        exchange -> {
          exchange.sendResponseHeaders(answer, -1);
          exchange.close();
        });
    gateway.start();
    try {
      assertThat(probe("0.0.0.0", gateway.getAddress().getPort())).isEqualTo(status);
    } finally {
      gateway.stop(0);
    }
    assertThat(probe("127.0.0.1", gateway.getAddress().getPort())).isNotZero();
  }

  /** A JVM takes longer to start on a busy machine than Docker waits for a probe. */
  @Test
  void theProbeNeedsNoJvm() throws IOException {
    assertThat(Files.readString(PROBE)).doesNotContain("java", "coatcheck health");
    assertThat(dockerfile()).anyMatch(line -> line.endsWith("CMD [\"healthy\"]"));
  }

  @Test
  void theBuilderOfDocker20TakesTheDockerfile() throws IOException {
    assertThat(dockerfile())
        .noneMatch(line -> line.contains("--mount="))
        .noneMatch(line -> line.contains("--start-interval"))
        .noneMatch(line -> line.contains("<<"))
        .noneMatch(line -> line.startsWith("# syntax="));
  }

  @Test
  void baseImagesHaveExactTags() throws IOException {
    assertThat(dockerfile().stream().filter(line -> line.startsWith("FROM ")))
        .hasSize(2)
        .allMatch(line -> line.matches("FROM [a-z-]+:\\d+\\.\\d+\\.\\d+_\\d+-[a-z-]+( AS build)?"));
    assertThat(Files.readAllLines(Path.of("docker-compose.yml")))
        .filteredOn(line -> line.strip().startsWith("image:"))
        .allMatch(line -> line.matches(" +image: [a-z]+:\\d+\\.\\d+-[a-z]+"));
  }

  private static List<String> dockerfile() throws IOException {
    return Files.readAllLines(Path.of("Dockerfile"));
  }

  private static int probe(String host, int port) throws IOException, InterruptedException {
    ProcessBuilder probe = new ProcessBuilder("bash", PROBE.toString());
    probe.environment().put("COATCHECK_HOST", host);
    probe.environment().put("COATCHECK_PORT", Integer.toString(port));
    probe.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
    return probe.start().waitFor();
  }
}
