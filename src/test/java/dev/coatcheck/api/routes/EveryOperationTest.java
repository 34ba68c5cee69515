package dev.coatcheck.api.routes;

import dev.coatcheck.ids.registry.TestType;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What holds for every operation holds for each. */
class EveryOperationTest {
  private static final String ON_OUTAGE = "COATCHECK_ACCESS_ON_OUTAGE";

  @Test
  void eachRefusesBadRequestsAndAnswersInAnOutage() {
    try (GatewayFixture gateway =
        GatewayFixture.own("COATCHECK_MANAGEMENT_PORT", "0", ON_OUTAGE, "refuse")) {
      gateway
          .client()
          .put(
              TestType.of("charge", "ch")
                  .redirect("https://shop.example/charges/{id}")
                  .with("legacy", Map.of())
                  .with("on_outage", "refuse"));
      // Served from memory in an outage, so that the instance stays ready.
      gateway.client().put(TestType.of("user", "usr"));
      EveryOperation.checkSharedOutcomes(gateway);
    }
  }

  @Test
  void theMetricsDoTooWithoutAManagementPort() {
    try (GatewayFixture gateway = GatewayFixture.own(ON_OUTAGE, "refuse")) {
      EveryOperation.checkMetrics(gateway);
    }
  }
}
