package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.coatcheck.api.routes.Contract.Answer;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The clients of the other tests tell the truth, tried on a server that answers as it is told. */
class TestClientTest {
  private static final ContractDocument DOCUMENT = ContractDocument.read();
  private static final Contract CONTRACT = Contract.withoutMemory();

  private HttpServer server;
  private TestClient client;
  private Answer next;

  @BeforeEach
  void start() throws IOException {
    next = DOCUMENT.example("resolveId", 200).answer();
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::answer);
    server.start();
    client =
        new TestClient(
            URI.create("http://127.0.0.1:" + server.getAddress().getPort()),
            "ccg_live_example",
            CONTRACT);
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  @Test
  void aReplyThatBreaksTheContractFails() {
    next = DOCUMENT.example("mintId", 201).answer();

    assertThatThrownBy(() -> client.get("/v1/ids/ch_4KIWSf8WvPNoQDBwStVIDYHU"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("Response status 201 not defined");
  }

  @Test
  void aMalformedRequestFailsUnlessItIsMeantToBe() {
    next = DOCUMENT.example("lookupKey", 400).answer();
    String malformed = "/v1/types/charge/keys/007";

    assertThatThrownBy(() -> client.get(malformed)).isInstanceOf(AssertionError.class);
    assertThat(client.hostile().get(malformed).status()).isEqualTo(400);
  }

  @Test
  void aMalformedRequestThatSucceedsFails() {
    next = DOCUMENT.example("lookupKey", 200).answer();

    assertThatThrownBy(() -> client.hostile().get("/v1/types/charge/keys/007"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("request: ");
  }

  @Test
  void aKeylessRequestThatSucceedsFails() {
    assertThatThrownBy(() -> client.anonymous().get("/v1/ids/ch_4KIWSf8WvPNoQDBwStVIDYHU"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("without an API key");
  }

  @Test
  void outcomesAreRemembered() {
    Contract contract = Contract.withoutMemory();
    Contract.Outcome resolved = new Contract.Outcome("resolveId", 200);
    assertThat(contract.unexercised()).contains(resolved);

    contract.check(DOCUMENT.example("resolveId", 200).sent(), next);

    assertThat(contract.unexercised()).doesNotContain(resolved).hasSizeGreaterThan(50);
  }

  @Test
  void anAnswerBeforeTheEndOfTheRequestIsRead() throws IOException {
    byte[] early =
        "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno"
            .getBytes(StandardCharsets.US_ASCII);
    try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> answerBeforeReading(listening, early));

      RawHttp.Reply reply = RawHttp.send("127.0.0.1", listening.getLocalPort(), new byte[64 << 20]);

      assertThat(reply.status()).isEqualTo(413);
      assertThat(reply.body()).isEqualTo("no");
    }
  }

  @Test
  void noAnswerAtAllIsSaid() throws IOException {
    try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> answerBeforeReading(listening, new byte[0]));

      assertThatThrownBy(
              () -> RawHttp.send("127.0.0.1", listening.getLocalPort(), new byte[] {'\n'}))
          .isInstanceOf(EOFException.class);
    }
  }

  private static void answerBeforeReading(ServerSocket listening, byte[] answer) {
    try (Socket socket = listening.accept()) {
      socket.getOutputStream().write(answer);
      socket.shutdownOutput();
      socket.getInputStream().transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      // The test sees the missing answer.
    }
  }

  private void answer(HttpExchange exchange) throws IOException {
    exchange.getRequestBody().transferTo(OutputStream.nullOutputStream());
    try (OutputStream out = exchange.getResponseBody()) {
      next.headers().forEach(exchange.getResponseHeaders()::put);
      byte[] body =
          next.body() == null ? new byte[0] : next.body().getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(next.status(), body.length == 0 ? -1 : body.length);
      out.write(body);
    }
  }
}
