package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * URLs as nginx and Envoy ask about them. CH and USR stand for public IDs, 42 and UUID for their
 * keys.
 */
class AuthRequestTest {
  private static final String UNKNOWN = "ch_00000000000000000000002B";
  private static final String TYPO = "ch_00000000000000000000002C";
  private static final String UUID = "01a1fd3c-753a-7c3e-9a41-6f0d2be8175c";
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static TestClient client;
  private static String charge;
  private static String user;

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    client.put(TestType.of("charge", "ch"));
    client.put(TestType.of("user", "usr").uuids());
    charge = client.mint("charge", "key", "42").text("/id");
    user = client.mint("user", "key", UUID).text("/id");
  }

  @Test
  void nginxIsAnsweredInHeaders() {
    Reply resolved = authRequest(client, filled("/users/USR?ids=CH,CH"));
    assertThat(resolved.status()).isEqualTo(200);
    assertThat(resolved.header("X-Resolved-URI")).isEqualTo(filled("/users/UUID?ids=42,42"));
    assertThat(resolved.header("X-Resolved-Types")).isEqualTo("user,charge,charge");
    assertThat(resolved.header("Cache-Control")).isEqualTo("no-store");

    Reply none = authRequest(client, "/");
    assertThat(none.header("X-Resolved-URI")).isEqualTo("/");
    assertThat(none.header("X-Resolved-Types")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "/charges/" + UNKNOWN + ", 404, public_id_unknown",
    "/charges/" + TYPO + ", 400, public_id_malformed",
    "/charges/../x, 400, url_invalid",
    "//evil.example/x, 400, url_invalid",
    "https://evil.example/x, 400, url_invalid",
  })
  void nginxIsTold403AndTheRestInHeaders(String uri, int status, String code) {
    Reply refused = authRequest(client.hostile(), uri);

    assertThat(refused.status()).isEqualTo(403);
    assertThat(refused.text("/code")).isEqualTo("url_refused");
    assertThat(refused.header("X-Coatcheck-Status")).isEqualTo(Integer.toString(status));
    assertThat(refused.header("X-Coatcheck-Problem"))
        .startsWith("{")
        .contains("\"code\":\"" + code + "\"", "\"status\":" + status, refused.text("/request_id"))
        .matches("[ -~]+")
        .doesNotContain("evil");
  }

  @Test
  void theLongestAnswerToNginxFits() {
    String name = "x".repeat(63);
    client.put(TestType.of(name, "x").uuids());
    String id = client.mint(name).text("/id");
    String uri = ("/" + id).repeat(50);

    Reply reply = authRequest(client, uri + "/" + "y".repeat(4_095 - uri.length()));

    assertThat(reply.header("X-Resolved-URI")).hasSize(4_096 + 50 * (36 - id.length()));
    assertThat(reply.header("X-Resolved-Types")).hasSize(50 * 64 - 1);
  }

  @Test
  void withoutTheUriNginxIsRefused() {
    Reply reply = client.hostile().get("/v1/urls/auth-request");

    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.text("/param")).isEqualTo("X-Original-URI");
  }

  /** As Envoy asks: the client's method, and its path behind ours. */
  @Test
  void extAuthzIsAnsweredAsTheClientIsToBe() {
    String id = filled("CH");
    Reply resolved = client.get("/v1/urls/ext-authz/" + id);

    assertThat(resolved.status()).isEqualTo(200);
    assertThat(resolved.header("x-resolved-uri")).matches("/[0-9]+");
    assertThat(resolved.header("x-resolved-types")).isEqualTo("charge");
    assertThat(client.get("/v1/urls/ext-authz/" + TestClient.UNKNOWN_ID).status()).isEqualTo(404);
    String typo = id.substring(0, id.length() - 1) + (id.endsWith("0") ? "1" : "0");
    assertThat(client.hostile().get("/v1/urls/ext-authz/" + typo).status()).isEqualTo(400);
    String ended = client.mint("charge").text("/id");
    client.post("/v1/ids/" + ended + "/revoke", json("reason", "nobody's business"));
    Reply revoked = client.get("/v1/urls/ext-authz/" + ended);
    assertThat(revoked.status()).isEqualTo(410);
    assertThat(revoked.body().toString()).doesNotContain("business");
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
  void extAuthzTakesAnyMethodAndAnyPath(String method) throws IOException {
    RawHttp.Reply reply =
        RawHttp.send(
            "127.0.0.1",
            GATEWAY.uri().getPort(),
            RawHttp.request(
                List.of(
                    method + " /v1/urls/ext-authz/a/" + filled("CH/b?x=CH&y=%20") + " HTTP/1.1",
                    "Host: api.example",
                    "Content-Length: 0",
                    "Authorization: Bearer " + GATEWAY.key(),
                    "Connection: close"),
                new byte[0]));

    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.answer().header("X-Resolved-URI")).matches("/a/([0-9]+)/b\\?x=\\1&y=%20");
  }

  private static Reply authRequest(TestClient as, String uri) {
    return as.with("X-Original-URI", uri).get("/v1/urls/auth-request");
  }

  private static String filled(String row) {
    return Placeholders.fill(
        row, Map.of("TAIL", charge.substring(3), "CH", charge, "USR", user, "UUID", UUID));
  }
}
