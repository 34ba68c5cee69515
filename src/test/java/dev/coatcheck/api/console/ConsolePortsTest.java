package dev.coatcheck.api.console;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.RawHttp;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Where the console is, and what a read-only one does. */
class ConsolePortsTest {
  @Test
  void itIsOnTheManagementPortAndReadOnlyMeansIt() {
    try (GatewayFixture gateway =
        GatewayFixture.own("COATCHECK_MANAGEMENT_PORT", "0", "COATCHECK_CONSOLE", "read-only")) {
      gateway.client().put(TestType.of("charge", "ch"));
      String id = gateway.client().mint("charge").text("/id");
      assertThat(new ConsoleClient(gateway.uri()).get("/console").status()).isEqualTo(404);

      ConsoleClient browser = ConsoleClient.signedIn(gateway.managementUri(), gateway.key());
      ConsoleClient.Page page = browser.get("/console?q=" + id);
      assertThat(page.html()).contains(id, ">read-only<").doesNotContain("/revoke\"", "/aliases\"");
      assertThat(page.links().stream().filter(link -> link.endsWith(".css")).findFirst())
          .hasValueSatisfying(
              path -> assertThat(browser.get(path).html()).contains("color-scheme"));
      for (String change : new String[] {"revoke", "merge", "aliases"}) {
        String path = "/console/ids/" + id + "/" + change;
        assertThat(browser.get(path).status()).isEqualTo(403);
        assertThat(browser.post(path, Map.of("form_token", page.formToken())).html())
            .contains("This console is read-only");
      }
      assertThat(gateway.client().get("/v1/ids/" + id).status()).isEqualTo(200);
    }
  }

  /** What reads the requests of the port must not wait for the rest of one. */
  @Test
  void aFormThatComesInTwoPartsIsTakenAndHoldsUpNobody() throws IOException {
    try (GatewayFixture gateway = GatewayFixture.own("COATCHECK_MANAGEMENT_PORT", "0");
        Socket socket =
            new Socket(InetAddress.getLoopbackAddress(), gateway.managementUri().getPort())) {
      // A gateway that has just started may be too slow for its first answers.
      ConsoleClient others = ConsoleClient.signedIn(gateway.managementUri(), gateway.key());
      socket.setSoTimeout(60_000);
      byte[] form = ConsoleClient.form(Map.of("key", gateway.key())).getBytes(US_ASCII);
      List<String> head =
          List.of(
              "POST /console/session HTTP/1.1",
              "Host: " + gateway.managementUri().getAuthority(),
              "Origin: " + gateway.managementUri(),
              "Content-Type: application/x-www-form-urlencoded",
              "Content-Length: " + form.length,
              "Expect: 100-continue");
      socket.getOutputStream().write(RawHttp.request(head, new byte[0]));
      String goOn = "HTTP/1.1 100 Continue\r\n\r\n";
      InputStream in = socket.getInputStream();
      assertThat(new String(in.readNBytes(goOn.length()), US_ASCII)).isEqualTo(goOn);

      for (int i = 0; i < 20; i++) {
        assertThat(others.get("/health/live").status()).isEqualTo(200);
      }
      socket.getOutputStream().write(form);

      assertThat(RawHttp.read(in, false).statusLine()).contains(" 303 ");
    }
  }

  @Test
  void withoutAManagementPortItIsOnLoopbackOnly() {
    try (GatewayFixture gateway = GatewayFixture.own("COATCHECK_HOST", "0.0.0.0")) {
      URI uri = URI.create("http://127.0.0.1:" + gateway.uri().getPort());
      assertThat(new ConsoleClient(uri).get("/console").status()).isEqualTo(404);
      assertThat(new ConsoleClient(uri).get("/console/sign-in").status()).isEqualTo(404);
    }
  }

  @Test
  void itCanBeOff() {
    try (GatewayFixture gateway = GatewayFixture.own("COATCHECK_CONSOLE", "off")) {
      assertThat(new ConsoleClient(gateway.uri()).get("/console").status()).isEqualTo(404);
      assertThat(new ConsoleClient(gateway.uri()).get("/console/assets/x").status()).isEqualTo(404);
    }
  }
}
