package dev.coatcheck.api.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A mint without a request thread is the mint of the route. */
class FrontMintTest {
  @RegisterExtension
  static final GatewayFixture GATEWAY = GatewayFixture.own("COATCHECK_MANAGEMENT_PORT", "0");

  private static Doors doors;
  private static String key;

  @BeforeAll
  static void start() {
    doors = new Doors(GATEWAY);
    TestClient client = GATEWAY.client();
    client.put(TestType.of("charge", "ch"));
    key = client.mint("charge").text("/key");
  }

  /** One door makes a public ID; the other one finds it, where it has a name. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"type\":\"charge\"}",
        "{\"type\":\"charge\",\"key\":\"KEY\"}",
        "{\"type\":\"charge\",\"legacy_id\":\"42\"}",
        "{\"type\":\"charge\",\"client_id\":\"order-1\"}",
        "{\"type\":\"nothing\"}",
        "{\"type\":\"charge\",\"key\":\"x\"}",
        "{\"type\":\"charge\",\"more\":1}",
        "{\"type\":",
        "[]",
        "{\"type\":\"\\ud800\"}"
      })
  void aMintGivesTheSameBytesThroughBothDoors(String body) throws IOException {
    String json = body.replace("KEY", key);
    List<String> headers = List.of(doors.authorization(), "Content-Type: application/json");
    List<String> toTheRoutes = new ArrayList<>(headers);
    toTheRoutes.add("Expect: 100-continue");
    doors.send("POST /v1/ids", headers, json); // so that both find what has a name

    String throughRoutes =
        doors.send("POST /v1/ids", toTheRoutes, json).replaceFirst("HTTP/1.1 100 .*\r\n\r\n", "");
    Doors.Seen before = doors.seen();
    String throughDoor = doors.send("POST /v1/ids", headers, json);

    assertThat(unnumbered(throughDoor)).isEqualTo(unnumbered(throughRoutes));
    if (throughDoor.contains(" 201 ")) {
      assertThat(doors.seenOnce(before.counted() + 1).loaded()).isEqualTo(before.loaded() + 1);
    }
  }

  /** Without what no two mints have in common. */
  private static String unnumbered(String answer) {
    return Doors.nameless(answer)
        .replaceAll("\"id\":\"ch_[0-9A-Za-z]{24}\"", "ID")
        .replaceAll("\"key\":\"[0-9]+\"", "KEY")
        .replaceAll("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "TIME");
  }
}
