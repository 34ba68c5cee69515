package dev.coatcheck.bench.load;

import dev.coatcheck.bench.machine.MeasureFailed;
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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Sends requests as a schedule says, and measures how long their answers take, from the moment at
 * which the request was due: where the server stops for a second, each request that was due in that
 * second is late, and not only those that were under way. One thread serves all connections, to
 * leave the machine to the server.
 */
final class HttpLoop {
  private static final int BUFFER_BYTES = 64 * 1024;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int UNAVAILABLE = 503;
  private static final int SILENCE_MILLIS_MAX = 30_000;

  /** A selector waits for whole milliseconds; shorter waits look for answers this often. */
  private static final long LOOK_NANOS = 50_000;

  private static final long SELECT_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(2);

  private final InetSocketAddress server;
  private final byte[] template;
  private final int idAt;
  private final Ids ids;
  private final int connections;
  private final boolean hasOwnCore;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);

  /**
   * Prepares to send.
   *
   * @param hasOwnCore whether no other process needs the core: then it looks for answers all the
   *     time, and the server need not wake it for each
   */
  HttpLoop(LoadSpec spec, boolean hasOwnCore) throws IOException {
    this.hasOwnCore = hasOwnCore;
    this.server = new InetSocketAddress(spec.host(), spec.port());
    this.ids = Ids.read(spec.ids());
    this.connections = spec.connections();
    String[] halves = spec.halves();
    this.idAt = halves[0].length();
    this.template =
        (halves[0] + " ".repeat(ids.idBytes()) + halves[1]).getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Sends for so long in a closed loop. */
  LoadResult closed(Duration time) {
    return run(Schedule.closed(time));
  }

  /** Sends so many a second for so long, in an open loop. */
  LoadResult open(Duration time, double perSecond) {
    return run(Schedule.open(time, perSecond));
  }

  private LoadResult run(Schedule schedule) {
    try (Selector selector = Selector.open()) {
      Run run = new Run(selector, schedule);
      try {
        return run.toEnd();
      } finally {
        for (SelectionKey key : selector.keys()) {
          key.channel().close();
        }
      }
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  private static final class Connection {
    private final HttpAnswer answer = new HttpAnswer();
    private final SocketChannel channel;
    private final byte[] request;
    private boolean isUnderWay;
    private long dueNanos;
    private long sentNanos;

    Connection(SocketChannel channel, byte[] request) {
      this.channel = channel;
      this.request = request;
    }
  }

  private final class Run {
    private final Timeline timeline = new Timeline();
    private final Deque<Connection> idle = new ArrayDeque<>();
    private final Selector selector;
    private final Schedule schedule;
    private final long begunNanos;
    private int underWay;
    private long lastAnswerNanos;

    Run(Selector selector, Schedule schedule) throws IOException {
      this.selector = selector;
      this.schedule = schedule;
      // All first: where the queue of new connections is full, a connection waits for a second.
      List<Connection> all = new ArrayList<>();
      for (int i = 0; i < connections; i++) {
        all.add(open());
      }
      idle.addAll(all);
      this.begunNanos = System.nanoTime();
    }

    LoadResult toEnd() throws IOException {
      while (true) {
        long now = now();
        timeline.advance(now);
        long due = schedule.nextNanos(now);
        while (due <= now && !idle.isEmpty()) {
          schedule.take();
          send(idle.removeFirst(), due);
          due = schedule.nextNanos(now);
        }
        if (due == Long.MAX_VALUE && underWay == 0) {
          return timeline.end(lastAnswerNanos);
        }
        await(idle.isEmpty() ? Long.MAX_VALUE : due - now);
      }
    }

    /** Until an answer comes or the next request is due. */
    private void await(long nanos) throws IOException {
      boolean looks = hasOwnCore || nanos <= SELECT_NANOS_MIN;
      long millis = Math.min(TimeUnit.NANOSECONDS.toMillis(nanos) - 1, SILENCE_MILLIS_MAX);
      int served = looks ? selector.selectNow(this::serve) : selector.select(this::serve, millis);
      if (served == 0 && underWay > 0 && now() - lastAnswerNanos > silenceNanos()) {
        throw new MeasureFailed("no answer within " + SILENCE_MILLIS_MAX + " ms");
      }
      if (served == 0 && looks && !hasOwnCore) {
        LockSupport.parkNanos(Math.min(nanos, LOOK_NANOS));
      }
    }

    private static long silenceNanos() {
      return TimeUnit.MILLISECONDS.toNanos(SILENCE_MILLIS_MAX);
    }

    private long now() {
      return System.nanoTime() - begunNanos;
    }

    private Connection open() throws IOException {
      SocketChannel channel = SocketChannel.open(server);
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      channel.configureBlocking(false);
      Connection connection = new Connection(channel, template.clone());
      channel.register(selector, SelectionKey.OP_READ, connection);
      return connection;
    }

    private void send(Connection connection, long dueNanos) throws IOException {
      timeline.sent();
      ids.copyTo(connection.request, idAt);
      connection.dueNanos = dueNanos;
      connection.sentNanos = now();
      connection.isUnderWay = true;
      connection.answer.expectNext();
      underWay++;
      try {
        ByteBuffer bytes = ByteBuffer.wrap(connection.request);
        while (bytes.hasRemaining()) {
          connection.channel.write(bytes); // at once: smaller than the socket's buffer
        }
      } catch (IOException closed) {
        replace(connection);
      }
    }

    private void serve(SelectionKey key) {
      Connection connection = (Connection) key.attachment();
      try {
        read(connection);
      } catch (IOException unreachable) {
        throw new UncheckedIOException(unreachable);
      }
    }

    private void read(Connection connection) throws IOException {
      buffer.clear();
      int bytes;
      try {
        bytes = connection.channel.read(buffer);
      } catch (IOException reset) {
        bytes = -1;
      }
      if (bytes < 0) {
        idle.remove(connection);
        replace(connection);
      } else if (connection.answer.read(buffer.flip())) {
        answered(connection);
      }
    }

    private void answered(Connection connection) {
      lastAnswerNanos = now();
      timeline.advance(lastAnswerNanos);
      long nanos = lastAnswerNanos - connection.dueNanos;
      int status = connection.answer.status();
      if (status == UNAVAILABLE || status == TOO_MANY_REQUESTS) {
        timeline.refused(lastAnswerNanos - connection.sentNanos);
      } else if (status < 400) {
        timeline.served(nanos);
      } else {
        String request = new String(connection.request, StandardCharsets.ISO_8859_1);
        throw new MeasureFailed(status + " to " + request.lines().findFirst().orElse(""));
      }
      finished(connection);
      idle.addLast(connection);
    }

    private void finished(Connection connection) {
      connection.isUnderWay = false;
      underWay--;
    }

    /** Opens a connection in place of one that the server has closed. */
    private void replace(Connection connection) throws IOException {
      connection.channel.close();
      if (connection.isUnderWay) {
        timeline.broken();
        lastAnswerNanos = now();
        finished(connection);
      }
      idle.addLast(open());
    }
  }
}
