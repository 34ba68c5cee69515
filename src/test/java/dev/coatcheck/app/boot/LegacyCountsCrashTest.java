package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the end of a gateway does to the counts of legacy IDs and of those who asked for them. */
@Tag("faults")
class LegacyCountsCrashTest {
  private static final TestDatabase DATABASE = TestDatabase.fresh();

  @RegisterExtension static final GatewayFixture OTHER = GatewayFixture.on(DATABASE);

  @Test
  void aKillLosesTheCountsOfTheLastSecondsAndNoOthers() throws Exception {
    OTHER
        .client()
        .put(
            TestType.of("order", "ord")
                .redirect("https://shop.example/{id}")
                .with("legacy", Map.of()));
    OTHER.client().mint("order", "legacy_id", "4711");
    GatewayChild victim = GatewayChild.serve(DATABASE);
    try {
      lookUp(victim, 50);
      await("the counts of the last ten seconds").until(() -> hits() == 50 && callers() == 50);
      lookUp(victim, 7);
    } finally {
      victim.kill();
    }
    try (GatewayChild next = GatewayChild.serve(DATABASE)) {
      lookUp(next, 5);
    } // a stop writes the counts

    assertThat(hits()).isBetween(55L, 62L);
    assertThat(callers()).isBetween(55L, 62L);
  }

  private static void lookUp(GatewayChild gateway, int times) {
    TestClient visitor = new TestClient(gateway.uri(), "").anonymous();
    for (int i = 0; i < times; i++) {
      assertThat(visitor.get("/legacy/order/4711").status()).isEqualTo(308);
    }
  }

  private static long hits() {
    return OTHER.count("select coalesce(sum(count), 0) from coatcheck.legacy_hit");
  }

  private static long callers() {
    return OTHER.count(
        "select coalesce(sum(count), 0) from coatcheck.legacy_caller where kind = 'user_agent'");
  }
}
