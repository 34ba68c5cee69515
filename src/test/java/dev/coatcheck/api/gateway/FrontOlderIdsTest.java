package dev.coatcheck.api.gateway;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.hashids.Hashids;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Legacy IDs and older public IDs that memory answers, hyphens and all, lead to the same. */
class FrontOlderIdsTest {
  /** The door leaves requests with this header to the routes, which don't care for it. */
  private static final String TO_THE_ROUTES = "Content-Length: 0";

  private static final String UUID = "01890a5d-ac96-774b-bcce-b302099a8057";
  private static final String HASHID = "inv-" + new Hashids("salt", 8).encode(42);

  @RegisterExtension
  static final GatewayFixture GATEWAY = GatewayFixture.own("COATCHECK_MANAGEMENT_PORT", "0");

  private static Doors doors;

  @BeforeAll
  static void start() {
    doors = new Doors(GATEWAY);
    TestClient client = GATEWAY.client();
    client.put(
        TestType.of("invoice", "invoice")
            .redirect("https://shop.example/{id}")
            .with("legacy", Map.of())
            .with(
                "public_rule",
                Map.of(
                    "scheme", "hashids", "salt", "salt", "min_length", 8, "text_prefix", "inv-")));
    client.put(
        TestType.of("photo", "photo")
            .redirect("https://shop.example/{id}")
            .with("public_pattern", TestType.pattern("photo-", "0123456789", 1, 20)));
    client.mint("invoice", "legacy_id", "42");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /legacy/invoice/42",
        "HEAD /legacy/invoice/42",
        "GET /legacy/invoice/HASHID",
        "GET /r/HASHID",
        "GET /v1/ids/HASHID"
      })
  void anOlderIdOfWhichAllIsCachedGivesTheSameBytesThroughBothDoors(String target)
      throws IOException {
    String request = target.replace("HASHID", HASHID);
    doors.requireSame(
        Doors.Seen::hot,
        () -> doors.answer(request, TO_THE_ROUTES),
        () -> doors.answer(request, "Accept: */*"));
  }

  /** Neither is remembered: a name may be given at any time. */
  @ParameterizedTest
  @ValueSource(strings = {"GET /v1/ids/photo-4711", "GET /r/photo-4711", "GET /legacy/invoice/43"})
  void aNameThatNobodyHasIsLookedUpEachTimeThroughBothDoors(String target) throws IOException {
    doors.requireSame(
        Doors.Seen::loaded,
        () -> doors.answer(target, TO_THE_ROUTES),
        () -> doors.answer(target, "Accept: */*"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"inv-", "-", "inv--x", UUID, "photo-x", "--------"})
  void aTextWithHyphensThatIsNoIdGivesTheSameBytesThroughBothDoors(String text) throws IOException {
    for (String path : List.of("/r/", "/v1/ids/", "/legacy/invoice/")) {
      doors.requireSame(
          Doors.Seen::hot,
          () -> doors.answer("GET " + path + text, TO_THE_ROUTES),
          () -> doors.answer("GET " + path + text, "Accept: */*"));
    }
  }
}
