package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.NextAnswers;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Connections that a stranger opens and forgets, against a gateway in a process of its own. */
class ManyConnectionsTest {
  /** Of the launcher. */
  private static final String DEFAULT_HEAP = "256m";

  private static final String LINK = "GET /r/x HTTP/1.1\r\nHost: gateway\r\n\r\n";

  @Test
  @Tag("faults")
  @Tag("alone")
  void headsThatDontEndTakeBoundedMemory() throws Exception {
    IdleConnections.require(2_000);
    TestDatabase database = TestDatabase.fresh();
    String head = "GET /r/x HTTP/1.1\r\n" + "a:b\r\n".repeat(99);
    try (GatewayChild gateway = GatewayChild.serve(database, "96m", Map.of());
        IdleConnections unfinished = new IdleConnections(gateway.uri())) {
      unfinished.open(2_000, head + "c:" + "d".repeat(7_000), 0);

      nextAnswers(gateway, database).areRight();
    }
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void tenThousandIdleAndTenThousandAbortedConnectionsFitIntoTheDefaultHeap() throws Exception {
    IdleConnections.require(10_000);
    TestDatabase database = TestDatabase.fresh();
    try (GatewayChild gateway =
        GatewayChild.serve(database, DEFAULT_HEAP, Map.of("COATCHECK_CONNECTIONS_MAX", "10100"))) {
      try (IdleConnections aborted = new IdleConnections(gateway.uri())) {
        aborted.open(10_000, LINK + LINK + "GET /r/", 2);
        aborted.abort();
      }
      try (IdleConnections idle = new IdleConnections(gateway.uri())) {
        idle.open(10_000, LINK + LINK, 2);

        nextAnswers(gateway, database).areRight();
      }
    }
  }

  @Test
  void atTheLimitIdleConnectionsEndAndOthersGetTheirTurn() throws Exception {
    try (GatewayFixture gateway =
            GatewayFixture.own(
                "COATCHECK_CONNECTIONS_MAX", "100", "COATCHECK_MANAGEMENT_PORT", "0");
        IdleConnections idle = new IdleConnections(gateway.uri())) {
      // All but the first hundred wait in the kernel's queue until idle ones have ended.
      idle.open(100, LINK, 1);
      idle.open(40, LINK, 0);

      assertThat(gateway.client().get("/v1/types").status()).isEqualTo(200);
      assertThat(SlowBodiesTest.metric(gateway.managementUri(), "coatcheck_connections_full_total"))
          .isPositive();
    }
  }

  private static NextAnswers nextAnswers(GatewayChild gateway, TestDatabase database) {
    return new NextAnswers(gateway.uri(), GatewayFixture.keyOn(database));
  }
}
