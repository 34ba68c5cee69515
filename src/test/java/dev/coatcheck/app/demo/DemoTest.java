package dev.coatcheck.app.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.console.ConsoleClient.Page;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The demo, in a process of its own, with a shop that is a hundred times smaller. */
@Tag("faults")
@Timeout(600)
class DemoTest {
  private static final long KILL_MILLIS_MAX = 30_000;

  /** For temporary files of the demos only. */
  @TempDir Path folder;

  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void endAll() throws InterruptedException {
    for (Process one : started) {
      one.destroyForcibly().waitFor();
    }
    programs().forEach(ProcessHandle::destroyForcibly);
  }

  @Test
  void theShopGetsNewKeysWithoutAnErrorAndNothingIsLeft() throws Exception {
    JsonNode figures = runToItsEnd();

    assertThat(figures.path("orders").asLong()).isGreaterThan(1_000);
    assertThat(figures.path("verified").asBoolean()).isTrue();
    for (String what : List.of("writes", "old_links", "public_links")) {
      assertThat(figures.path(what).path("tried").asLong()).as(what).isPositive();
      assertThat(figures.path(what).path("wrong").asLong()).as(what).isZero();
    }
    requireNothingLeft();
  }

  @Test
  void theNextDemoRemovesWhatAKilledOneLeft() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Process killed = start("--pace=100", "--keep"); // or it might have ended by itself
    // The moment is what the test varies: from the unpacking of Postgres to after the migration.
    boolean hasEnded =
        killed.waitFor(new Random(seed).nextLong(KILL_MILLIS_MAX), TimeUnit.MILLISECONDS);
    assertThat(hasEnded).isFalse();
    killed.destroyForcibly().waitFor();

    runToItsEnd();

    requireNothingLeft();
  }

  @Test
  void sigtermWhileItUnpacksItsPostgresLeavesNothing() throws Exception {
    Process demo = start("--pace=100");
    Awaitility.await("the unpacking")
        .pollInterval(Duration.ofMillis(5))
        .until(() -> Files.exists(home().resolve("postgres/unpacking")));

    demo.destroy();

    assertThat(demo.waitFor()).isEqualTo(143);
    requireNothingLeft();
  }

  /** The home of the gateway of the only demo; some other path while there is none. */
  private Path home() throws IOException {
    try (Stream<Path> folders = Files.list(folder)) {
      return folders
          .filter(one -> one.getFileName().toString().startsWith("coatcheck-demo-"))
          .findAny()
          .orElse(folder)
          .resolve("home");
    }
  }

  @Test
  void aPortThatIsTakenIsToldByTheFlagOfTheDemo() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Process demo =
          started(demo("--pace=100", "--port=" + taken.getLocalPort()).redirectErrorStream(true));
      String out = new String(demo.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

      assertThat(demo.waitFor()).isEqualTo(1);
      assertThat(out).contains("Choose another one with --port.").doesNotContain("COATCHECK_");
    }
    requireNothingLeft();
  }

  @Test
  void theLinkSignsInOnceAndSigtermLeavesNothing() throws Exception {
    Process demo = start("--pace=100", "--keep");
    URI link = link(demo);
    URI base = link.resolve("/");
    String path = link.getRawPath();

    Page page = new ConsoleClient(base).get(path + "?next=/console?q=1");
    assertThat(page.status()).isEqualTo(200);
    assertThat(page.html()).contains("action=\"" + path + "\"", "value=\"/console?q=1\"");
    ConsoleClient other = new ConsoleClient(base).with("Origin", "https://evil.example");
    assertThat(other.post(path, Map.of("next", "")).status()).isEqualTo(403);
    assertThat(new ConsoleClient(base).get(path.replaceAll(".$", "_")).status()).isEqualTo(410);

    ConsoleClient browser = new ConsoleClient(base);
    Page signedIn = browser.post(path, Map.of("next", "/console?q=1"));
    assertThat(signedIn.status()).isEqualTo(303);
    assertThat(signedIn.location()).isEqualTo("/console?q=1");
    assertThat(browser.get("/console").status()).isEqualTo(200);
    assertThat(new ConsoleClient(base).get(path).status()).isEqualTo(410);
    Page again = new ConsoleClient(base).post(path, Map.of("next", ""));
    assertThat(again.status()).isEqualTo(410);
    assertThat(again.header("set-cookie")).isEmpty();

    demo.destroy();
    assertThat(demo.waitFor()).isEqualTo(143);
    requireNothingLeft();
  }

  private JsonNode runToItsEnd() throws IOException, InterruptedException {
    Process demo = start("--pace=100", "--json");
    String out = new String(demo.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(demo.waitFor()).as(out).isZero();
    return new JsonMapper().readTree(out);
  }

  private Process start(String... options) throws IOException {
    return started(demo(options).redirectError(ProcessBuilder.Redirect.INHERIT));
  }

  private ProcessBuilder demo(String... options) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx128m",
                "--enable-native-access=ALL-UNNAMED",
                "-Djava.io.tmpdir=" + folder,
                "-Dlogback.configurationFile=logback.xml",
                "-Dorg.jooq.no-logo=true",
                "-Dorg.jooq.no-tips=true",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.coatcheck.Main",
                "demo"));
    command.addAll(List.of(options));
    return new ProcessBuilder(command);
  }

  private Process started(ProcessBuilder demo) throws IOException {
    Process process = demo.start();
    started.add(process);
    return process;
  }

  /** The one that it prints, without the page to go on with. */
  private static URI link(Process demo) throws IOException {
    BufferedReader output = demo.inputReader();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.contains("/console/sign-in/once/")) {
        // Read on, so that the demo never waits for room in the pipe.
        Thread.ofVirtual().start(() -> output.lines().forEach(more -> {}));
        return URI.create(line.strip().replaceFirst("\\?.*", ""));
      }
    }
    throw new AssertionError("the demo printed no link");
  }

  private void requireNothingLeft() throws IOException {
    Awaitility.await("the programs of demos").until(() -> programs().findAny().isEmpty());
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left.filter(one -> one.getFileName().toString().startsWith("coatcheck")))
          .isEmpty();
    }
  }

  private Stream<ProcessHandle> programs() {
    return ProcessHandle.allProcesses()
        .filter(
            one -> one.info().command().filter(name -> name.startsWith(folder + "/")).isPresent());
  }
}
