package dev.coatcheck.app.boot;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** Many connections to a gateway from one thread, each held open until the end. */
final class IdleConnections implements AutoCloseable {
  private static final int DESCRIPTORS_SPARE = 1_000;

  /** As many as are opened at a time; Jetty has a queue of 50 for those that it didn't accept. */
  private static final int OPENED_AT_ONCE = 50;

  private static final long SILENCE_NANOS_MAX = Duration.ofSeconds(60).toNanos();

  private final InetSocketAddress gateway;
  private final List<SocketChannel> channels = new ArrayList<>();
  private final ByteBuffer buffer = ByteBuffer.allocate(64 << 10);

  IdleConnections(URI gateway) {
    this.gateway = new InetSocketAddress(gateway.getHost(), gateway.getPort());
  }

  /** Skips the test where the process may not open so many files. */
  static void require(int connections) {
    if (ManagementFactory.getOperatingSystemMXBean()
        instanceof com.sun.management.UnixOperatingSystemMXBean unix) {
      long descriptors = unix.getMaxFileDescriptorCount();
      Assumptions.assumeTrue(
          descriptors >= connections + DESCRIPTORS_SPARE,
          "ulimit -n is %d, and %d connections are needed".formatted(descriptors, connections));
    }
  }

  /** Opens connections, sends the same on each, and waits until each has had so many answers. */
  void open(int count, String requests, int answersEach) throws IOException {
    for (int opened = 0; opened < count; opened += OPENED_AT_ONCE) {
      exchange(Math.min(OPENED_AT_ONCE, count - opened), requests, answersEach);
    }
  }

  private void exchange(int count, String requests, int answersEach) throws IOException {
    ByteBuffer sent = StandardCharsets.US_ASCII.encode(requests);
    try (Selector selector = Selector.open()) {
      for (int i = 0; i < count; i++) {
        SocketChannel channel = SocketChannel.open(gateway);
        channels.add(channel);
        channel.write(sent.duplicate());
        if (answersEach > 0) {
          channel.configureBlocking(false);
          channel.register(selector, SelectionKey.OP_READ, new ByteArrayOutputStream());
        }
      }
      long last = System.nanoTime();
      for (int left = answersEach > 0 ? count : 0; left > 0; ) {
        if (selector.select(1_000) > 0) {
          last = System.nanoTime();
        } else if (System.nanoTime() - last > SILENCE_NANOS_MAX) {
          throw new IOException(left + " connections have no answer");
        }
        for (SelectionKey key : selector.selectedKeys()) {
          if (isAnswered(key, answersEach)) {
            key.cancel();
            left--;
          }
        }
        selector.selectedKeys().clear();
      }
    }
  }

  private boolean isAnswered(SelectionKey key, int answersEach) throws IOException {
    buffer.clear();
    if (((SocketChannel) key.channel()).read(buffer) < 0) {
      throw new IOException("the gateway closed connection " + channels.size());
    }
    ByteArrayOutputStream got = (ByteArrayOutputStream) key.attachment();
    got.write(buffer.array(), 0, buffer.position());
    return got.toString(StandardCharsets.ISO_8859_1).split("HTTP/1\\.1 ", -1).length > answersEach;
  }

  /** Ends each with a reset, as a process that dies leaves them. */
  void abort() throws IOException {
    for (SocketChannel channel : channels) {
      channel.setOption(java.net.StandardSocketOptions.SO_LINGER, 0);
      channel.close();
    }
    channels.clear();
  }

  @Override
  public void close() throws IOException {
    for (SocketChannel channel : channels) {
      channel.close();
    }
  }
}
