package dev.coatcheck.postgres.connection;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SmallPoolTest {
  /** With pauses that double up to 5 s, as Hikari's do, eleven attempts take ten seconds. */
  @Test
  void aPoolTriesOnThroughAnOutageWithoutLongerAndLongerPauses() throws IOException {
    AtomicInteger attempts = new AtomicInteger();
    try (ServerSocket away = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread.ofPlatform().daemon().start(() -> refuse(away, attempts));
      String url = "jdbc:postgresql://127.0.0.1:" + away.getLocalPort() + "/test?sslmode=disable";
      try (SmallPool pool =
          SmallPool.ofOne(new DatabaseSettings(url, "test", "secret", 1), "test")) {
        await().atMost(Duration.ofSeconds(10)).until(() -> attempts.get() > 20);

        assertThatExceptionOfType(SQLTransientConnectionException.class)
            .isThrownBy(pool::getConnection)
            .as("says why")
            .havingCause()
            .withMessageContaining("connection attempt failed");
      }
    }
  }

  private static void refuse(ServerSocket away, AtomicInteger attempts) {
    while (!away.isClosed()) {
      try {
        away.accept().close();
        attempts.incrementAndGet();
      } catch (IOException closed) {
        return;
      }
    }
  }
}
