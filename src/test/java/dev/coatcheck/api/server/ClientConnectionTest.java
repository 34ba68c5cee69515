package dev.coatcheck.api.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.core.observe.Observer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import org.eclipse.jetty.io.ArrayByteBufferPool;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that answers each request on a thread of its own, after its body was read. */
@Timeout(60)
class ClientConnectionTest {
  private static final String GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

  private final ArrayByteBufferPool.Tracking buffers = new ArrayByteBufferPool.Tracking();
  private final Server server = new Server(new ReadingThreads(8, 3), null, buffers);
  private final ServerConnector connector =
      new ClientConnector(server, 1, new HeadLimit(new HttpConfiguration(), new Observer()));

  private final BlockingQueue<Thread> readers = new LinkedBlockingQueue<>();
  private final Semaphore answers = new Semaphore(0);

  @BeforeEach
  void start() throws Exception {
    server.addConnector(connector);
    server.setHandler(
        new Handler.Abstract.NonBlocking() {
          @Override
          public boolean handle(Request request, Response response, Callback callback) {
            readers.add(Thread.currentThread());
            Thread.ofVirtual()
                .start(
                    () -> {
                      try {
                        Content.Source.consumeAll(request);
                        answers.acquireUninterruptibly();
                        response.write(true, ByteBuffer.wrap(new byte[] {'#'}), callback);
                      } catch (IOException failed) {
                        callback.failed(failed);
                      }
                    });
            return true;
          }
        });
    server.start();
  }

  @AfterEach
  void stop() throws Exception {
    server.stop();
  }

  /** Thousands of clients may keep a connection open. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        GET,
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
      })
  void aConnectionThatAwaitsItsNextRequestHoldsNoBuffer(String request) throws Exception {
    answers.release(3);
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), connector.getLocalPort())) {
      InputStream in = client.getInputStream();
      for (int i = 0; i < 3; i++) {
        send(client, request);
        awaitAnswer(in);

        await().untilAsserted(() -> assertThat(buffers.getLeaks()).isEmpty());
      }
    }
  }

  /** A client that sends one request after the other must not keep a thread that answers others. */
  @ParameterizedTest
  @ValueSource(ints = {1, 20})
  void theThreadThatAnswersReadsNothing(int together) throws Exception {
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), connector.getLocalPort())) {
      send(client, GET.repeat(together));
      for (int i = 0; i < 20; i++) {
        assertThat(readers.take().isVirtual()).as("request %d", i).isFalse();
        send(client, GET);
        answers.release();
        awaitAnswer(client.getInputStream());
      }
      answers.release(together);
    }
  }

  /** The limit of connections may be reached or left meanwhile. */
  @Test
  void aClientThatReadsNothingChangesNoIdleTimeoutForLater() throws Exception {
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), connector.getLocalPort())) {
      await().until(() -> !connector.getConnectedEndPoints().isEmpty());
      var end = (ClientConnector.SocketEnd) connector.getConnectedEndPoints().iterator().next();

      end.setIdleTimeout(5_000);
      ByteBuffer rest = stalled(end);
      assertThat(end.getIdleTimeout()).isEqualTo(5_000);
      end.setIdleTimeout(60_000);
      assertThat(end.getIdleTimeout()).isEqualTo(30_000);
      read(client, end, rest);
      assertThat(end.getIdleTimeout()).isEqualTo(60_000);

      rest = stalled(end);
      assertThat(end.getIdleTimeout()).isEqualTo(30_000);
      end.setIdleTimeout(5_000);
      read(client, end, rest);
      assertThat(end.getIdleTimeout()).isEqualTo(5_000);
    }
  }

  private static ByteBuffer stalled(ClientConnector.SocketEnd end) throws IOException {
    ByteBuffer rest = ByteBuffer.allocate(16 << 20);
    assertThat(end.flush(rest)).isFalse();
    end.onIncompleteFlush();
    return rest;
  }

  private static void read(Socket client, ClientConnector.SocketEnd end, ByteBuffer rest)
      throws IOException {
    while (!end.flush(rest)) {
      assertThat(client.getInputStream().readNBytes(1)).hasSize(1);
      client.getInputStream().skipNBytes(client.getInputStream().available());
    }
    client.getInputStream().skipNBytes(client.getInputStream().available());
  }

  private static void send(Socket client, String request) throws IOException {
    client.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
  }

  private static void awaitAnswer(InputStream in) throws IOException {
    for (int c = in.read(); c != '#'; c = in.read()) {
      assertThat(c).isNotNegative();
    }
  }
}
