package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.ids.registry.TestType;
import java.util.Map;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Every outcome of every operation that the contract documents was seen in some test. Runs last,
 * and means something only after all others.
 */
@Order(Integer.MAX_VALUE)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DocumentedOutcomesTest {
  private static final String ON_OUTAGE = "COATCHECK_ACCESS_ON_OUTAGE";

  @Test
  @Order(1)
  void whatHoldsForEveryOperationHoldsForEach() {
    try (GatewayFixture gateway =
        new GatewayFixture(Map.of("COATCHECK_MANAGEMENT_PORT", "0", ON_OUTAGE, "refuse"))) {
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
  @Order(2)
  void itHoldsForMetricsToo() {
    try (GatewayFixture gateway = new GatewayFixture(Map.of(ON_OUTAGE, "refuse"))) {
      EveryOperation.checkMetrics(gateway);
    }
  }

  @Test
  @Order(3)
  void everyDocumentedOutcomeWasSeen() {
    assertThat(Contract.load().unexercised())
        .as("outcomes in openapi/coatcheck.yaml that no test has seen")
        .isEmpty();
  }
}
