package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** HEAD is GET without the body, on every path and for every outcome. */
class HeadTest {
  /** Of one answer only, or of how its body is sent. */
  private static final List<String> OF_ONE_ANSWER =
      List.of("Date", "Request-Id", "Transfer-Encoding");

  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.own("COATCHECK_TRUSTED_PROXIES", "127.0.0.0/8");

  private static final TestClient API = GATEWAY.client();

  private static final AtomicInteger VISITORS = new AtomicInteger();

  /** What may stand for a parameter of a path: something that is there, something that isn't. */
  private static Map<String, List<String>> values;

  @BeforeAll
  static void start() {
    API.put(
        TestType.of("charge", "ch").with("legacy", Map.of()).redirect("https://shop.example/{id}"));
    String found = API.mint("charge", "key", "42", "legacy_id", "7").text("/id");
    String revoked = API.mint("charge").text("/id");
    API.post("/v1/ids/" + revoked + "/revoke", json("reason", "lost"));
    values =
        Map.of(
            "id", List.of(found, revoked, "ch_00000000000000000000002B", "ch_x", "9"),
            "type", List.of("charge", "nobody"),
            "name", List.of("charge", "nobody"),
            "key", List.of("42", "43", "x"),
            "scheme", List.of("legacy", "nothing"),
            "value", List.of("7", "8"),
            "n", List.of("7", "8", "x"),
            "text", List.of(found),
            "file", List.of("swagger-ui-bundle.js", "nothing"),
            "uri", List.of("shop"));
  }

  @Test
  void headIsGetWithoutItsBodyForEachOperationAndOutcome() throws IOException {
    List<List<String>> callers =
        List.of(
            List.of("Authorization: Bearer " + GATEWAY.key()),
            List.of("Authorization: Bearer " + GATEWAY.keyWith(Scope.METRICS_READ)),
            List.of("Authorization: Bearer nothing"),
            List.of("Accept-Encoding: gzip"),
            List.of("Accept: text/html"));
    int compared = 0;
    for (String target : targets()) {
      for (List<String> caller : callers) {
        compare(target, caller);
        compared++;
      }
    }
    assertThat(compared).isGreaterThan(200);
  }

  @Test
  void aStreamAnswersHeadWithoutStarting() throws IOException {
    List<String> key = List.of("Authorization: Bearer " + GATEWAY.key());

    RawHttp.Reply events =
        ask(
            "HEAD /v1/table-migrations/99/events",
            List.of(key.getFirst(), "Accept: text/event-stream"));

    assertThat(events.status()).isEqualTo(404);
    assertThat(ask("HEAD /v1/exports?type=charge", key).headers().get("Content-Disposition"))
        .containsExactly("attachment; filename=\"charge.csv\"");
  }

  @Test
  void anInstanceThatIsNotReadySaysSoToHeadToo() throws IOException {
    API.putConfirmed(
        TestType.of("charge", "ch").with("legacy", Map.of()).with("on_outage", "refuse"));
    GATEWAY.setReachable(false);
    try {
      await()
          .until(
              () ->
                  RawHttp.sendOnce("127.0.0.1", port(), request("GET /health/ready", List.of()))
                          .status()
                      == 503);
      assertThat(
              RawHttp.sendOnce("127.0.0.1", port(), request("HEAD /health/ready", List.of()))
                  .status())
          .isEqualTo(503);
    } finally {
      GATEWAY.setReachable(true);
    }
  }

  @Test
  void headCountsForTheScanGuard() throws IOException {
    List<String> visitor = List.of("X-Forwarded-For: 192.0.2.1");
    for (int number = 1_000; number < 1_100; number++) {
      ask("HEAD /legacy/charge/" + number, visitor);
    }

    assertThat(ask("GET /legacy/charge/7", visitor).status()).isEqualTo(429);
  }

  /** Each time as another visitor: who misses often is refused. */
  private static void compare(String target, List<String> caller) throws IOException {
    List<String> headers = new ArrayList<>(caller);
    headers.add("X-Forwarded-For: 10.%1$d.%1$d.%1$d".formatted(VISITORS.incrementAndGet() % 256));
    RawHttp.Reply get = ask("GET " + target, headers);
    RawHttp.Reply head = ask("HEAD " + target, headers);

    assertThat(head.status()).as("HEAD " + target).isEqualTo(get.status());
    assertThat(comparable(head, target)).as("HEAD " + target).isEqualTo(comparable(get, target));
  }

  private static Map<String, List<String>> comparable(RawHttp.Reply reply, String target) {
    Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    headers.putAll(reply.headers());
    OF_ONE_ANSWER.forEach(headers::remove);
    // A problem names its request, and changes tell how old they are: longer or shorter.
    if (reply.status() >= 400 || target.startsWith("/v1/changes")) {
      headers.remove("Content-Length");
    }
    return headers;
  }

  private static RawHttp.Reply ask(String requestLine, List<String> headers) throws IOException {
    return RawHttp.send("127.0.0.1", port(), request(requestLine, headers));
  }

  private static byte[] request(String requestLine, List<String> headers) {
    List<String> lines =
        new ArrayList<>(List.of(requestLine + " HTTP/1.1", "Host: gateway", "Connection: close"));
    lines.addAll(headers);
    return RawHttp.request(lines, "".getBytes(StandardCharsets.US_ASCII));
  }

  private static int port() {
    return GATEWAY.uri().getPort();
  }

  /** Every GET of the contract with all that may stand in its path, with and without a query. */
  private static List<String> targets() {
    return ContractDocument.read().operations().stream()
        .filter(operation -> operation.method().equals("get"))
        .flatMap(
            operation ->
                filled(operation.path())
                    .flatMap(
                        path ->
                            Stream.of("", "?type=charge&from=2026-01-01T00:00:00Z", "?x=y")
                                .map(query -> path + query)))
        .toList();
  }

  private static Stream<String> filled(String path) {
    int start = path.indexOf('{');
    if (start < 0) {
      return Stream.of(path);
    }
    int end = path.indexOf('}');
    return requireNonNull(values.get(path.substring(start + 1, end)), path).stream()
        .flatMap(name -> filled(path.substring(0, start) + name + path.substring(end + 1)));
  }
}
