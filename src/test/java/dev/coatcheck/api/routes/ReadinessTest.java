package dev.coatcheck.api.routes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestSession;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Whether traffic should come here. */
class ReadinessTest {
  private static final String READY = "/health/ready";

  @Test
  @SuppressWarnings("try") // the close is tested too
  void withoutPostgresAGatewayIsReadyOnlyAsLongAsItMayServeFromMemoryAndStopsInTime() {
    try (MachineDelay delay = MachineDelay.measure();
        GatewayFixture gateway = GatewayFixture.own()) {
      TestClient once = gateway.client().once();
      put(gateway, "refused", "refuse");
      assertThat(once.get(READY).status()).isEqualTo(200);

      gateway.setReachable(false);
      Awaitility.await().until(() -> once.get(READY).status() == 503);

      gateway.setReachable(true);
      Awaitility.await().until(() -> once.get(READY).status() == 200);
      put(gateway, "served", "serve_stale");

      gateway.setReachable(false);
      Awaitility.await().until(() -> once.get("/v1/workers").status() == 503);

      assertThat(once.get(READY).status()).isEqualTo(200);

      long from = System.nanoTime();
      gateway.close();
      delay.requireWithin(Duration.ofSeconds(9), Duration.ofNanos(System.nanoTime() - from));
    }
  }

  @Test
  void aGatewayWhosePoolIsFullIsReady() throws Exception {
    try (GatewayFixture gateway = GatewayFixture.own("COATCHECK_DATABASE_CONNECTIONS", "2");
        TestSession other = gateway.sql().session();
        ExecutorService askers = Executors.newVirtualThreadPerTaskExecutor()) {
      TestClient once = gateway.client().once();
      put(gateway, "refused", "refuse");
      other.begin("lock table coatcheck.public_id in access exclusive mode");
      List<Future<Integer>> refused =
          IntStream.range(0, 4)
              .mapToObj(
                  key ->
                      askers.submit(
                          () -> {
                            int status = 0;
                            for (int i = 0; i < 2; i++) {
                              status = once.get("/v1/types/refused/keys/" + key).status();
                            }
                            return status;
                          }))
              .toList();

      while (!refused.stream().allMatch(Future::isDone)) {
        assertThat(once.get(READY).status()).isEqualTo(200);
      }

      for (Future<Integer> status : refused) {
        assertThat(status.get()).isEqualTo(503);
      }
      other.rollback();
    }
  }

  @Test
  void aGatewayThatStopsIsNotReadyWhileItFinishesWhatItAccepted() throws Exception {
    GatewayFixture gateway = GatewayFixture.own("COATCHECK_MANAGEMENT_PORT", "0");
    Thread stop = Thread.ofVirtual().unstarted(gateway::close);
    try (TransferSocket accepted = TransferSocket.load(gateway, 1_000, gateway.key())) {
      accepted.read("HTTP/1.1 100 Continue".length());
      int port = gateway.managementUri().getPort();
      assertThat(ready(port)).isEqualTo(200);

      stop.start();

      Awaitility.await().until(() -> ready(port) == 503);
      accepted.vanish();
    } finally {
      stop.join();
    }
  }

  private static int ready(int port) throws IOException {
    return RawHttp.sendOnce(
            "127.0.0.1",
            port,
            RawHttp.request(
                List.of("GET " + READY + " HTTP/1.1", "Host: a", "Connection: close"), new byte[0]))
        .status();
  }

  private static void put(GatewayFixture gateway, String type, String onOutage) {
    TestClient.assertPut(gateway.client().put(TestType.of(type, type).with("on_outage", onOutage)));
  }
}
