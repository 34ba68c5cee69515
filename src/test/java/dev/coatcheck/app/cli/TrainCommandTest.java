package dev.coatcheck.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.CoatcheckProgram;
import dev.coatcheck.postgres.embedded.TestHome;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainCommandTest {
  /** All that a verb loads would be loaded at every start of a gateway too. */
  @Test
  @Tag("faults")
  void aGatewayAnswersAndVerbsRunInAProcessOfTheirOwn(@TempDir Path folder) throws IOException {
    Path program = CoatcheckProgram.write(folder.resolve("coatcheck"));

    Terminal trained =
        Terminal.run("train", "--home=" + folder.resolve("home"), "--port=0", program.toString());

    assertThat(trained.err()).isEmpty();
    assertThat(trained.out()).isEmpty();
    assertThat(trained.status()).isZero();
  }

  /** As on a busy machine: a connection is dropped, then the gateway can't, then it answers. */
  @Test
  void aRequestThatGetsNoAnswerIsSentAgain() throws Exception {
    List<String> answers =
        List.of(
            "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nno",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes");
    try (ServerSocket gateway = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        TrainRequests requests =
            new TrainRequests(
                URI.create("http://127.0.0.1:" + gateway.getLocalPort()),
                "key",
                Duration.ofSeconds(10))) {
      Future<Integer> asked =
          threads.submit(
              () -> {
                try (Socket dropped = gateway.accept()) {
                  readRequest(dropped);
                }
                int count = 1;
                try (Socket kept = gateway.accept()) {
                  for (String answer : answers) {
                    readRequest(kept);
                    kept.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
                    count++;
                  }
                }
                return count;
              });

      assertThat(requests.send("PUT", "/v1/types/charge", "{}")).isEqualTo("yes");
      assertThat(asked.get()).isEqualTo(3);
    }
  }

  private static void readRequest(Socket client) throws IOException {
    StringBuilder request = new StringBuilder();
    while (!request.toString().endsWith("\r\n\r\n{}")) {
      request.append((char) client.getInputStream().read());
    }
  }

  @Test
  void verbsThatFailFailTheTraining() {
    try (TestHome home = TestHome.fresh()) {
      Terminal trained = Terminal.run("train", "--home=" + home, "--port=0", "--", "false");

      assertThat(trained.err()).contains("the verbs failed");
      assertThat(trained.status()).isOne();
    }
  }
}
