package dev.coatcheck.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import java.util.function.Supplier;

/**
 * A closed loop over HTTP: each connection sends its next request once its last one was answered.
 * One thread serves all connections, to leave the machine to the server. A request that is refused
 * with 503 is sent again, and its time goes on.
 *
 * @param requests makes requests; its strings are ISO 8859-1
 */
record HttpLoad(InetSocketAddress server, int connections, Supplier<String> requests)
    implements InterleavedRounds.Side {
  private static final int BUFFER_BYTES = 64 * 1024;
  private static final int UNAVAILABLE = 503;
  private static final int SILENCE_MILLIS_MAX = 30_000;

  /** Sends for so long, and waits for the last answers. */
  @Override
  public Pace during(Duration time) {
    return run(begun -> System.nanoTime() - begun < time.toNanos());
  }

  /** Sends so many requests, and waits for their answers. */
  void times(int count) {
    int[] left = {count};
    run(_ -> left[0]-- > 0);
  }

  private Pace run(LongPredicate more) {
    try (Selector selector = Selector.open()) {
      try {
        return run(selector, new Loop(requests, more));
      } finally {
        for (SelectionKey key : selector.keys()) {
          key.channel().close();
        }
      }
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  private Pace run(Selector selector, Loop loop) throws IOException {
    // All first: where the queue of new connections is full, one waits for a second.
    for (int i = 0; i < connections; i++) {
      loop.open(server, selector);
    }
    loop.begunNanos = System.nanoTime();
    for (SelectionKey key : selector.keys()) {
      loop.begin(key);
    }
    while (loop.underWay > 0) {
      if (selector.select(loop::serve, SILENCE_MILLIS_MAX) == 0) {
        throw new IllegalStateException("no answer within " + SILENCE_MILLIS_MAX + " ms");
      }
    }
    return loop.times.over(Duration.ofNanos(System.nanoTime() - loop.begunNanos));
  }

  private static final class Loop {
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final Pace.Times times = new Pace.Times();
    private final Supplier<String> requests;
    private final LongPredicate more;
    private int underWay;
    private long begunNanos;

    Loop(Supplier<String> requests, LongPredicate more) {
      this.requests = requests;
      this.more = more;
    }

    private static final class Connection {
      private final HttpAnswer answer = new HttpAnswer();
      private String request = "";
      private long sentNanos;
    }

    void open(InetSocketAddress server, Selector selector) throws IOException {
      SocketChannel channel = SocketChannel.open(server);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_READ, new Connection());
      underWay++;
    }

    void begin(SelectionKey key) throws IOException {
      sendNext((SocketChannel) key.channel(), (Connection) key.attachment());
    }

    void serve(SelectionKey key) {
      SocketChannel channel = (SocketChannel) key.channel();
      Connection connection = (Connection) key.attachment();
      try {
        buffer.clear();
        if (channel.read(buffer) < 0) {
          throw new IllegalStateException("closed before the answer to " + connection.request);
        }
        if (connection.answer.read(buffer.flip())) {
          long nanos = System.nanoTime() - connection.sentNanos;
          int status = connection.answer.status();
          if (status == UNAVAILABLE && nanos < TimeUnit.MILLISECONDS.toNanos(SILENCE_MILLIS_MAX)) {
            send(channel, connection);
            return;
          }
          if (status >= 400) {
            throw new IllegalStateException(
                status + " to " + connection.request.lines().findFirst());
          }
          times.took(nanos);
          sendNext(channel, connection);
        }
      } catch (IOException broken) {
        throw new UncheckedIOException(broken);
      }
    }

    private void sendNext(SocketChannel channel, Connection connection) throws IOException {
      if (!more.test(begunNanos)) {
        underWay--;
        channel.close();
        return;
      }
      connection.request = requests.get();
      connection.sentNanos = System.nanoTime();
      send(channel, connection);
    }

    private static void send(SocketChannel channel, Connection connection) throws IOException {
      connection.answer.expectNext();
      ByteBuffer bytes = ByteBuffer.wrap(connection.request.getBytes(StandardCharsets.ISO_8859_1));
      while (bytes.hasRemaining()) {
        channel.write(bytes); // at once: a request is far smaller than the socket's buffer
      }
    }
  }
}
