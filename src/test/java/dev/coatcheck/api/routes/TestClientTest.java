package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.coatcheck.api.routes.Contract.Answer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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
  void outcomesAreRemembered() {
    Contract contract = Contract.withoutMemory();
    Contract.Outcome resolved = new Contract.Outcome("resolveId", 200);
    assertThat(contract.unexercised()).contains(resolved);

    contract.check(DOCUMENT.example("resolveId", 200).sent(), next);

    assertThat(contract.unexercised()).doesNotContain(resolved).hasSizeGreaterThan(50);
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
