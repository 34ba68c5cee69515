package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.TestClient;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Files of rows, through the nginx of {@code docs/edge/instances.conf}. */
class FilesThroughNginxTest {
  private static final int ROWS = 40_000;
  private static final long FIRST_KEY = 100_000_000_000_000_000L;

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  @TempDir private static Path folder;

  @Test
  void aPartOf2MillionBytesGoesThroughNginx() throws IOException {
    assumeTrue(InstancesNginx.isInstalled(), "nginx is not installed");
    GATEWAY.client().put(TestType.of("charge", "ch"));
    String part =
        LongStream.range(0, ROWS)
            .mapToObj(row -> "charge," + (FIRST_KEY + row) + ",2019-04-01T08:15:00.000000Z\n")
            .collect(Collectors.joining("", "type,key,created_at\n", ""));
    assertThat(part.length()).isGreaterThan(2_000_000);
    int port = GATEWAY.uri().getPort();
    try (InstancesNginx nginx = new InstancesNginx(folder, List.of(port, port, port))) {
      TestClient through =
          new TestClient(URI.create("http://127.0.0.1:" + nginx.port()), GATEWAY.key());

      TestClient.Reply imported =
          through.with("Content-Type", "text/csv").post("/v1/imports", part);

      assertThat(imported.status()).isEqualTo(200);
      assertThat(imported.body().at("/created").asInt()).isEqualTo(ROWS);
    }
  }
}
