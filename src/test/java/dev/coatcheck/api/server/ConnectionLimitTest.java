package dev.coatcheck.api.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.observe.Observer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SocketChannel;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.eclipse.jetty.io.ByteArrayEndPoint;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.Test;

class ConnectionLimitTest {
  private static final int MAX = 20;

  private final List<EndPoint> connected =
      Stream.<EndPoint>generate(ByteArrayEndPoint::new).limit(MAX).toList();

  private Runnable meanwhile = () -> {};

  private final ServerConnector connector =
      new ServerConnector(new Server()) {
        @Override
        public Collection<EndPoint> getConnectedEndPoints() {
          Runnable now = meanwhile;
          meanwhile = () -> {};
          now.run();
          return connected;
        }
      };

  private final ConnectionLimit limit = limit();

  private ConnectionLimit limit() {
    ConnectionLimit.set(MAX, 1, connector, new Observer());
    return connector.getServer().getBean(ConnectionLimit.class);
  }

  @Test
  void idleConnectionsEndSoonFromTheLimitOnUntilATenthIsFree() throws IOException {
    open(MAX);
    assertThat(connected).allMatch(end -> end.getIdleTimeout() == 5_000);

    close(2);
    assertThat(connected).allMatch(end -> end.getIdleTimeout() == 5_000);
    close(1);
    assertThat(connected).allMatch(end -> end.getIdleTimeout() == 60_000);
  }

  /** Else those that are open would block the others for a minute. */
  @Test
  void idleConnectionsEndSoonEvenIfTheLimitIsReachedWhileItIsLeft() throws IOException {
    open(MAX);
    close(2);

    meanwhile = () -> open(3);
    close(1);

    assertThat(connected).allMatch(end -> end.getIdleTimeout() == 5_000);
  }

  /** Whoever sees that a tenth is free may be late with it. */
  @Test
  void idleConnectionsEndSoonHoweverFastTheLimitIsReachedAgain() throws Exception {
    open(MAX);
    try (ExecutorService newcomers = Executors.newSingleThreadExecutor()) {
      for (int round = 0; round < 5_000; round++) {
        Future<?> full =
            newcomers.submit(
                () -> {
                  while (limit.getNetworkConnectionCount() > MAX - 3) {
                    Thread.onSpinWait();
                  }
                  open(3);
                });
        close(3);
        full.get();
        assertThat(connected).allMatch(end -> end.getIdleTimeout() == 5_000);
      }
    }
  }

  /** Else the limit is reached, nobody says so again, and the others wait for a minute. */
  @Test
  void whoIsStillBeingAcceptedTakesAPlace() throws IOException {
    open(MAX - 3);
    begin(4);

    close(1);

    assertThat(connector.isAccepting()).isFalse();
    assertThat(connected).allMatch(end -> end.getIdleTimeout() == 5_000);
  }

  @Test
  void portsShareTheFileDescriptors() {
    assertThat(ConnectionLimit.possible(10_500, 1)).isEqualTo(10_300);
    assertThat(ConnectionLimit.possible(10_500, 2)).isEqualTo(5_150);
    assertThat(ConnectionLimit.possible(100, 3)).isEqualTo(200);
    assertThat(ConnectionLimit.possible(Long.MAX_VALUE, 3)).isEqualTo(Integer.MAX_VALUE);
  }

  private void open(int count) {
    for (int i = 0; i < count; i++) {
      try (SocketChannel channel = SocketChannel.open()) {
        limit.onAccepting(channel);
        limit.onAccepted(channel);
      } catch (IOException failed) {
        throw new UncheckedIOException(failed);
      }
    }
  }

  private void begin(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      try (SocketChannel channel = SocketChannel.open()) {
        limit.onAccepting(channel);
      }
    }
  }

  private void close(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      try (SocketChannel channel = SocketChannel.open()) {
        limit.onClosed(channel);
      }
    }
  }
}
