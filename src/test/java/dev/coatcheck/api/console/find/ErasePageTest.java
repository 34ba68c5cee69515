package dev.coatcheck.api.console.find;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.console.ConsoleClient.Page;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Erasures in the console. */
class ErasePageTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static TestClient client;
  private static ConsoleClient browser;
  private String id = "";

  @BeforeAll
  static void start() {
    client = GATEWAY.client();
    client.put(TestType.of("order", "ord").with("legacy", Map.of()));
    client.put(TestType.of("parcel", "par"));
    browser = ConsoleClient.signedIn(GATEWAY, GATEWAY.key());
  }

  @BeforeEach
  void mint() {
    id = client.mint("order").text("/id");
  }

  private String path() {
    return "/console/ids/" + id + "/erase";
  }

  private int status() {
    return client.get("/v1/ids/" + id).status();
  }

  @Test
  void aPublicIdIsErasedOnceItIsTypedAgain() {
    assertThat(browser.get("/console?q=" + id).links()).contains(path());
    assertThat(browser.get(path()).html()).contains("Nothing brings it back", "Erase " + id);

    for (String typed : new String[] {"", "yes", id.toUpperCase(Locale.ROOT)}) {
      Page refused = browser.submit(path(), Map.of("confirmation", typed));
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.html()).contains("Type the public ID exactly");
    }
    assertThat(status()).isEqualTo(200);
    Page done = browser.submit(path(), Map.of("confirmation", id));

    assertThat(done.status()).as(done.html()).isEqualTo(303);
    assertThat(done.location()).isEqualTo("/console/ids/" + id + "/erasure");
    assertThat(browser.get(done.location()).html()).contains(id, "<h1>Erased</h1>", "Complete");
    assertThat(status()).isEqualTo(410);
    assertThat(browser.get("/console?q=" + id).links()).contains(done.location());
    assertThat(browser.get(path()).status()).isEqualTo(410);
    assertThat(browser.get("/console/audit?subject=" + id).html())
        .contains("<code>id.erase</code>");
  }

  @Test
  void whatIsEndedCanBeErasedToo() {
    client.post("/v1/ids/" + id + "/revoke", "{}");

    assertThat(browser.get("/console?q=" + id).links()).contains(path());
    assertThat(browser.submit(path(), Map.of("confirmation", id)).status()).isEqualTo(303);
  }

  @Test
  void aSurvivorIsErasedWithWhatWasMergedIntoItOnly() {
    String merged = client.mint("order").text("/id");
    client.post("/v1/ids/" + merged + "/merge", json("into", id));

    Page refused = browser.submit(path(), Map.of("confirmation", id));
    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.html())
        .contains("1 public ID was merged into this one", "name=\"cascade\"")
        .contains("value=\"" + id + "\"");
    assertThat(status()).isEqualTo(200);
    Page done = browser.submit(path(), Map.of("confirmation", id, "cascade", "on"));

    assertThat(done.status()).isEqualTo(303);
    assertThat(client.get("/v1/ids/" + merged).status()).isEqualTo(410);
  }

  @Test
  void itTakesTheScopeAndTheType() {
    ConsoleClient reader = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.IDS_READ));
    ConsoleClient ofParcels = ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.ALL, "parcel"));
    assertThat(reader.get("/console?q=" + id).links()).doesNotContain(path());

    for (ConsoleClient other : new ConsoleClient[] {reader, ofParcels}) {
      String token = other.get("/console").formToken();
      assertThat(other.get(path()).status()).isEqualTo(403);
      assertThat(other.post(path(), Map.of("form_token", token, "confirmation", id)).status())
          .isEqualTo(403);
    }
    assertThat(status()).isEqualTo(200);
    browser.submit(path(), Map.of("confirmation", id));
    assertThat(reader.get("/console/ids/" + id + "/erasure").status()).isEqualTo(200);
    assertThat(ofParcels.get("/console/ids/" + id + "/erasure").status()).isEqualTo(403);
  }

  @Test
  void whatIsNoPublicIdIsRefused() {
    assertThat(browser.get("/console/ids/ord_x/erase").status()).isEqualTo(400);
    assertThat(browser.get("/console/ids/" + id + "/erasure").status()).isEqualTo(404);
  }
}
