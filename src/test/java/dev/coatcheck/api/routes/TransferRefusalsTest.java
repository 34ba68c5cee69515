package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static dev.coatcheck.api.routes.TransferRoutesTest.assertCounts;
import static dev.coatcheck.api.routes.TransferRoutesTest.errors;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Imports and exports that are refused, broken off, or too many. */
class TransferRefusalsTest {
  private static final String IMPORTS = "/v1/imports";
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient API = GATEWAY.client();
  private static final TestClient CSV = API.with("Content-Type", "text/csv");

  @BeforeAll
  static void types() {
    for (String name : List.of("charge", "moved", "bad", "conflict", "named", "ended", "cut")) {
      API.put(TestType.of(name, name));
    }
    API.put(TestType.of("person", "usr").uuids());
  }

  @Test
  void errorsAreListedUpToTheirMaximumAndAllCounted() {
    String file = "type,key\n" + "bad,x\n".repeat(20_000);

    Reply usual = CSV.post(IMPORTS, file);
    assertCounts(usual, 20_000, 0, 0, 20_000);
    assertThat(errors(usual))
        .hasSize(100)
        .startsWith("2 key_malformed")
        .endsWith("101 key_malformed");
    assertThat(errors(CSV.post(IMPORTS + "?errors_max=0", file))).isEmpty();
    assertThat(errors(CSV.post(IMPORTS + "?errors_max=17000", file)))
        .hasSize(17_000)
        .endsWith("17001 key_malformed");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "charge,1\n",
        "type,id\n",
        "type,key,type\n",
        "type,\"key\n",
        "{\"type\":\"charge\"}"
      })
  void aFileWithoutItsColumnsIsRefused(String file) {
    Reply reply = CSV.hostile().post(IMPORTS, file);

    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.text("/code")).isEqualTo("request_invalid");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "application/json", "text/plain",
        "text/csv; charset=utf-16", "text/csv; header=absent; charset=utf-8",
        "multipart/form-data", "application/x-www-form-urlencoded"
      })
  void anotherMediaTypeIsRefused(String contentType) {
    assertThat(API.with("Content-Type", contentType).hostile().post(IMPORTS, "type,key\n").status())
        .isEqualTo(415);
    assertThat(CSV.with("Content-Encoding", "gzip").hostile().post(IMPORTS, "type,key\n").status())
        .isEqualTo(415);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/exports", "/v1/exports?type=",
        "/v1/exports?type=moved&format=xml", "/v1/exports?type=moved&include_ended=1",
        "/v1/exports?type=moved&limit=1", "/v1/exports?type=moved&type=moved"
      })
  void anUnknownParameterOfAnExportIsRefused(String target) {
    assertThat(API.hostile().get(target).status()).isEqualTo(400);
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "50001", "1e3", "999999999999", ""})
  void errorsMaxHasALimit(String value) {
    assertThat(CSV.hostile().post(IMPORTS + "?errors_max=" + value, "type,key\n").status())
        .isEqualTo(400);
  }

  @Test
  void aBodyThatBreaksOffLeavesWholeRowsOnly() throws IOException {
    try (Socket socket = connect()) {
      send(socket, "Content-Length: 1000", "type,key\ncut,1\ncut,2\ncut,3");
      socket.shutdownOutput();
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(answer).doesNotContain(" 200 ");
    }
    String chunk = "cut,%d\n".repeat(16_384).formatted(numbers(1_000, 16_384));
    try (Socket socket = connect()) {
      send(socket, "Content-Length: 9000000", "type,key\n" + chunk + "cut,77");
      socket.shutdownOutput();
      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
          .doesNotContain(" 200 ");
    }

    for (String key : List.of("1", "2", "3", "7", "77")) {
      assertThat(API.get("/v1/types/cut/keys/" + key).status()).as(key).isEqualTo(404);
    }
    // The first chunk was whole.
    assertThat(API.get("/v1/types/cut/keys/1000").status()).isEqualTo(200);
    assertThat(API.get("/v1/types/cut/keys/17383").status()).isEqualTo(200);
  }

  @Test
  void aThirdImportOfOnePrincipalIsToldToComeAgain() throws IOException {
    try (Socket one = connect();
        Socket two = connect()) {
      for (Socket socket : List.of(one, two)) {
        send(socket, "Content-Length: 1000", "type,key\ncharge,1\n");
      }
      Reply refused = CSV.refused("overloaded", once -> once.post(IMPORTS, "type,key\n"));
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.header("Retry-After")).matches("[1-3]");
      // All else goes on.
      assertThat(API.get("/v1/exports?type=charge").status()).isEqualTo(200);
      assertThat(API.get("/v1/types/charge").status()).isEqualTo(200);
    }
    assertThat(CSV.post(IMPORTS, "type,key\n").status()).isEqualTo(200);
  }

  /** A silent sender meets no limit of Jetty's before its idle time-out. All wait together. */
  @Test
  void sendersWhoAreTooSlowAreToldSoAndTheirPermitsAreFree() throws IOException {
    GATEWAY.execute("create table public.filed_slowly (id bigserial primary key)");
    API.put(TestType.of("filed", "filed").with("legacy", Map.of()));
    String run =
        API.post("/v1/table-migrations", json("table", "filed_slowly", "type", "filed"))
            .text("/id");
    String keys = "/v1/table-migrations/" + run + "/import";
    try (TransferSocket slow = TransferSocket.load(GATEWAY, 9_000_000, GATEWAY.key());
        TransferSocket refused = TransferSocket.load(GATEWAY, 9_000_000, GATEWAY.key());
        TransferSocket keysOnly = TransferSocket.load(GATEWAY, keys, 9_000_000, GATEWAY.key())) {
      slow.send("type,key\n" + "cut,%d\n".repeat(16_384).formatted(numbers(50_000, 16_384)));
      refused.send("no,such,columns\n");
      keysOnly.send("legacy_id\n1\n");

      String answer = answer(slow, IMPORTS);
      assertThat(answer)
          .startsWith("HTTP/1.1 408")
          .contains("\"code\":\"request_timeout\"")
          .contains("All rows up to line 16385 are done");
      assertThat(answer(refused, IMPORTS))
          .as("the rest of a refused file is waited for no longer than its rows")
          .startsWith("HTTP/1.1 400")
          .contains("\"code\":\"request_invalid\"");
      assertThat(answer(keysOnly, keys)).startsWith("HTTP/1.1 408");
    }
    assertThat(API.get("/v1/types/cut/keys/66383").status()).isEqualTo(200);
    assertCounts(CSV.post(IMPORTS, "type,key\ncut,50000\n"), 1, 0, 1, 0);
    GATEWAY.execute("drop table public.filed_slowly");
  }

  private static String answer(TransferSocket sender, String path) {
    String answer = sender.readToEnd().replace("HTTP/1.1 100 Continue\r\n\r\n", "");
    sender.check("POST", path, answer);
    return answer;
  }

  private static Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), GATEWAY.uri().getPort());
    socket.setSoTimeout(20_000);
    return socket;
  }

  private static void send(Socket socket, String length, String body) throws IOException {
    OutputStream out = socket.getOutputStream();
    out.write(
        ("POST /v1/imports HTTP/1.1\r\nHost: gateway\r\nContent-Type: text/csv\r\n"
                + "Connection: close\r\nAuthorization: Bearer "
                + GATEWAY.key()
                + "\r\n"
                + length
                + "\r\n\r\n"
                + body)
            .getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  private static Object[] numbers(int first, int count) {
    return IntStream.range(first, first + count).boxed().toArray();
  }
}
