package dev.coatcheck;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code build/Train.java}, which runs a gateway and a verb once for the JVM's caches. */
class TrainTest {
  private static final String ID = "ch_0123456789abcdefghijklmn";

  @TempDir private Path folder;

  private record Training(int status, String said) {}

  @Test
  @Tag("faults")
  @Tag("alone")
  void aGatewayAnswersAndAVerbRuns() throws Exception {
    String program = CoatcheckProgram.write(folder.resolve("coatcheck")).toString();

    Training training =
        train(
            List.of(program, "serve", "--home=" + folder.resolve("home"), "--port=0"),
            List.of(program, "mint", "charge", "--count", "1000"));

    assertThat(training.said()).doesNotContain("Exception");
    assertThat(training.status()).isZero();
  }

  /** On a busy machine a gateway may first say that it can't. */
  @Tag("faults")
  @Tag("alone")
  @Test
  void aRequestThatFailsIsSentAgainAndTheGatewayIsEnded() throws Exception {
    AtomicInteger requests = new AtomicInteger();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          byte[] answer = ID.getBytes(StandardCharsets.US_ASCII);
          exchange.sendResponseHeaders(requests.incrementAndGet() < 3 ? 503 : 200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
    try {
      String gateway =
          script(
              "gateway",
              "trap 'touch \"$0.ended\"; exit' TERM\n"
                  + "echo Coatcheck listens on http://127.0.0.1:%d\n"
                      .formatted(server.getAddress().getPort())
                  + "while true; do sleep 0.1; done\n");

      Training training = train(List.of(gateway), List.of("true"));

      assertThat(training).isEqualTo(new Training(0, ""));
      assertThat(requests).hasValueGreaterThan(2_500);
      assertThat(folder.resolve("gateway.ended")).exists();
      assertThat(train(List.of(gateway), List.of("false")).said()).contains("the verb failed");
    } finally {
      server.stop(0);
    }
  }

  @Test
  void aGatewayThatDoesNotStartFailsTheTraining() throws Exception {
    Training training = train(List.of("echo", "no"), List.of("true"));

    assertThat(training.status()).isNotZero();
    assertThat(training.said()).contains("the gateway did not start");
  }

  private String script(String name, String text) throws IOException {
    Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + text);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"))
        .toString();
  }

  private Training train(List<String> gateway, List<String> verb) throws Exception {
    Path home = Files.createDirectories(folder.resolve("home"));
    if (!Files.exists(home.resolve("dev-key")) && !gateway.contains("serve")) {
      Files.writeString(home.resolve("dev-key"), "ccg_live_key");
    }
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    List<String> command =
        new ArrayList<>(Arrays.asList(java, "build/Train.java", home.toString()));
    command.addAll(gateway);
    command.add("--");
    command.addAll(verb);
    Process training = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(training.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Training(training.waitFor(), said);
  }
}
