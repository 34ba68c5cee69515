package dev.coatcheck.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the command line says to who uses it for the first time. */
class StrangerTest {
  @TempDir private Path folder;

  @Test
  void anotherServerBehindTheUrlIsAnError() throws IOException {
    Path key = Files.writeString(folder.resolve("key"), "ccg_live_x");
    HttpServer other =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    other.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, 2);
          exchange.getResponseBody().write("{}".getBytes(StandardCharsets.UTF_8));
          exchange.close();
        });
    other.start();
    try {
      Terminal listed =
          Terminal.run(
              "types",
              "list",
              "--url=http://127.0.0.1:" + other.getAddress().getPort(),
              "--key-file=" + key);

      assertThat(listed.status()).isEqualTo(1);
      assertThat(listed.err()).contains("is not a Coatcheck gateway (status 200). Check --url.");
    } finally {
      other.stop(0);
    }
  }

  @Test
  void aMissingKeyFileSaysToStartAGatewayFirst() {
    Terminal listed = Terminal.run("types", "list", "--key-file=" + folder.resolve("none"));

    assertThat(listed.status()).isEqualTo(1);
    assertThat(listed.err()).contains("Start a gateway (./coatcheck serve)");
  }

  @Test
  void misuseEndsWithTwo() {
    assertThat(Terminal.run("types", "list", "--url=ftp://x", "--key-file=pom.xml").status())
        .isEqualTo(2);
    assertThat(Terminal.run("access", "list", "--database-connections=1").status()).isEqualTo(2);
    assertThat(Terminal.run("nonsense").status()).isEqualTo(2);
  }
}
