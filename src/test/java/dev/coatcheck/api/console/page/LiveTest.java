package dev.coatcheck.api.console.page;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.coatcheck.MachineDelay;
import dev.coatcheck.api.console.ConsoleClient;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.migrations.Runs;
import dev.coatcheck.ids.access.Scope;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** What the pages that move cost a gateway, and when their streams end. */
@Timeout(120)
class LiveTest {
  /** It asks for API keys anew after an outage, as a round then has to. */
  @RegisterExtension
  static final GatewayFixture GATEWAY = GatewayFixture.own("COATCHECK_ACCESS_ON_OUTAGE", "refuse");

  private static final long WATCHERS_BYTES_MAX = 20_000_000;
  private static final int SILENT = 20;

  /** How long a write may wait for its reader, and the rounds before it and after it. */
  private static final Duration WRITE_MAX = Duration.ofSeconds(15 + 2);

  /** Makes a frame that the buffers of the kernel don't hold for a reader with a small window. */
  private static final int LARGE_BYTES = 4 << 20;

  private static final int WINDOW_BYTES = 4 << 10;

  private static String path = "";
  private static int rowsDone;

  /** Planned by the API, and then set by SQL to paused: no runner carries it on. */
  @BeforeAll
  static void plan() {
    Runs runs = Runs.of(GATEWAY);
    runs.table("orders", 1);
    path = "/console/migrations/" + runs.plan("orders").text("/id");
    GATEWAY.execute(
        """
        update coatcheck.table_migration set state = 'paused', rows_total = 1000000;
        insert into coatcheck.table_migration_load
        select migration_id, now() - n * interval '5 s', 100000 - 10 * n, 2, 0, 'a replica is 12 s behind'
          from coatcheck.table_migration, generate_series(1, 720) n\
        """);
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void twoHundredPagesMoveHalfOfThemForOneKeyAndAnotherOneOnceOneOfThemIsLeft() throws Exception {
    try (Streams others = Streams.of(browser());
        Streams streams = Streams.of(browser())) {
      others.open(Live.STREAMS_MAX / 2);
      try (Stream refused = others.ask()) {
        assertThat(refused.upTo("</html>"))
            .contains("HTTP/1.1 503", "half of them for one API key");
      }
      streams.open(Live.STREAMS_MAX / 2);
      try (Stream refused = Streams.of(browser()).ask()) {
        assertThat(refused.upTo("</html>"))
            .contains("HTTP/1.1 503", "An instance serves at most 200 pages that move");
      }

      streams.all.removeFirst().close();
      streams.open(1);
      streams.all.getLast().seesChange();
    }
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void twoHundredWatchersCostAtMostTwentyMegabytes() throws Exception {
    try (Streams streams = Streams.of(browser(), browser())) {
      streams.open(10); // what is loaded once for all counts before
      long before = usedBytes();

      streams.open(Live.STREAMS_MAX - 10);
      String change = changed();
      for (Stream stream : streams.all) {
        stream.upTo(change);
      }

      long cost = usedBytes() - before;
      System.out.printf("%d watchers cost %,d bytes%n", Live.STREAMS_MAX - 10, cost);
      assertThat(cost).isLessThan(WATCHERS_BYTES_MAX);
    }
  }

  /** The heap, and the memory outside of it that Jetty writes from. */
  private static long usedBytes() {
    long direct =
        ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
            .mapToLong(BufferPoolMXBean::getMemoryUsed)
            .sum();
    long heap = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      heap = Math.min(heap, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return heap + direct;
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void anOutageOfPostgresEndsNoStreamAndTheNextChangeArrives() throws Exception {
    try (Streams streams = Streams.of(browser())) {
      streams.open(1);
      String _ = streams.all.getFirst().seesChange();
      ListAppender<ILoggingEvent> log = new ListAppender<>();
      log.start();
      Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
      root.addAppender(log);
      GATEWAY.setReachable(false);
      try {
        Awaitility.await("a round that fails")
            .until(
                () ->
                    List.copyOf(log.list).stream()
                        .anyMatch(line -> line.getFormattedMessage().contains("console sessions")));
        streams.all.getFirst().upTo("event: outage");
      } finally {
        root.detachAppender(log);
        GATEWAY.setReachable(true);
      }
      streams
          .all
          .getFirst()
          .upTo("data: {}"); // nothing changed, and the page learns that it is over
      assertThat(streams.all.getFirst().seesChange()).doesNotContain("reload");
    }
  }

  @Test
  void aSignOutEndsItsStreamsAlone() throws Exception {
    ConsoleClient leaving = browser();
    try (Streams streams = Streams.of(leaving);
        Streams others = Streams.of(browser())) {
      streams.open(2);
      others.open(1);

      leaving.post(
          "/console/session/end", Map.of("form_token", leaving.get("/console").formToken()));

      for (Stream stream : streams.all) {
        stream.upTo("event: reload");
      }
      assertThat(others.all.getFirst().seesChange()).doesNotContain("reload");
    }
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void readersThatNeverReadAreClosedWithinTheLimitOfAWriteAndHoldNothing() throws Exception {
    ConsoleClient one = browser();
    ConsoleClient other = browser();
    try (Streams silent = Streams.of(one, other);
        Streams readers = Streams.of(one, other);
        MachineDelay delay = MachineDelay.measure()) {
      silent.windowBytes = WINDOW_BYTES;
      silent.open(SILENT);
      readers.open(1);
      long from = System.nanoTime();
      setReason("repeat('x', %d)".formatted(LARGE_BYTES));
      readers.all.getFirst().upTo("xxx");
      setReason("null");
      readers.open(Live.STREAMS_MAX - SILENT - 1);
      try (Stream refused = readers.ask()) {
        assertThat(refused.upTo("</html>")).contains("HTTP/1.1 503");
      }

      readers.open(1);

      delay.requireWithin(WRITE_MAX, Duration.ofNanos(System.nanoTime() - from));
      readers.open(SILENT - 1);
      requireNoFailedRound();
    }
  }

  /** A round that closes a connection may still see its watcher, whose request is over. */
  private static void requireNoFailedRound() {
    assertThat(GATEWAY.client().get("/metrics").body().stringValue())
        .contains("coatcheck_requests")
        .doesNotContain("loop=\"console-live\"");
  }

  private static void setReason(String sql) {
    GATEWAY.execute("update coatcheck.table_migration set reason = " + sql);
  }

  /** With an API key of its own. */
  private static ConsoleClient browser() {
    return ConsoleClient.signedIn(GATEWAY, GATEWAY.keyWith(Scope.ALL));
  }

  /** Changes the progress of the run; gives what pages then show. */
  private static synchronized String changed() {
    rowsDone++;
    GATEWAY.execute("update coatcheck.table_migration set rows_done = " + rowsDone);
    return rowsDone + " of 1,000,000 rows";
  }

  /** Streams of these browsers in turn. Their buffer is shared, so that they cost little. */
  private static final class Streams implements AutoCloseable {
    final List<Stream> all = new ArrayList<>();
    private final List<byte[]> requests;
    private int asked;
    private int windowBytes;

    private Streams(List<byte[]> requests) {
      this.requests = requests;
    }

    static Streams of(ConsoleClient... browsers) {
      return new Streams(Arrays.stream(browsers).map(Streams::request).toList());
    }

    private static byte[] request(ConsoleClient browser) {
      String live = browser.get(path).html().replaceAll("(?s).*data-live=\"([^\"]+)\".*", "$1");
      return """
      GET %s HTTP/1.1\r
      Host: 127.0.0.1:%d\r
      Connection: close\r
      Cookie: __Host-coatcheck=%s\r
      \r
      """
          .formatted(live, GATEWAY.uri().getPort(), browser.cookie())
          .getBytes(StandardCharsets.US_ASCII);
    }

    /** More streams; a change lets the gateway see who has left. */
    void open(int count) {
      for (int i = 0; i < count; i++) {
        Awaitility.await("a stream")
            .pollDelay(Duration.ZERO)
            .pollInterval(Duration.ofMillis(200))
            .until(this::isOpened);
      }
    }

    private boolean isOpened() throws IOException {
      Stream stream = ask();
      if (stream.upTo("\r\n\r\n").contains("HTTP/1.1 200")) {
        return all.add(stream);
      }
      stream.close();
      String _ = changed();
      return false;
    }

    Stream ask() throws IOException {
      SocketChannel channel = SocketChannel.open();
      if (windowBytes > 0) {
        channel.setOption(StandardSocketOptions.SO_RCVBUF, windowBytes);
      }
      channel.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), GATEWAY.uri().getPort()));
      channel.write(ByteBuffer.wrap(requests.get(asked++ % requests.size())));
      return new Stream(channel);
    }

    @Override
    public void close() throws IOException {
      for (Stream stream : all) {
        stream.close();
      }
    }
  }

  private record Stream(SocketChannel channel) implements AutoCloseable {
    private static final ByteBuffer BUFFER = ByteBuffer.allocate(64 << 10);

    /** All that comes, until it has the text. */
    String upTo(String wanted) throws IOException {
      StringBuilder read = new StringBuilder();
      while (read.indexOf(wanted) < 0) {
        if (channel.read(BUFFER.clear()) < 0) {
          throw new AssertionError("the stream ended before " + wanted + " with " + read);
        }
        read.append(StandardCharsets.ISO_8859_1.decode(BUFFER.flip()));
      }
      return read.toString();
    }

    /** What comes until a change that is made now. */
    String seesChange() throws IOException {
      return upTo(changed());
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
