package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.NextAnswers;
import dev.coatcheck.api.server.OpenRoute;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Strangers who ask and don't read the answers take neither threads nor memory from others. */
class SilentReadersTest {
  private static final String LARGEST = "/docs/assets/swagger-ui-bundle.js";
  private static final Duration LIVE_MAX = Duration.ofSeconds(1);

  /** One of each public route on the listener for all. */
  private static final List<String> TARGETS =
      List.of(
          "/",
          "/favicon.svg",
          "/favicon.ico",
          "/r/ch_x",
          "/legacy/charge/7",
          "/v1/access/keys/revoke-leaked",
          "/health/live",
          "/health/ready",
          "/openapi.yaml",
          "/docs",
          "/docs/errors",
          LARGEST);

  /** How long each route is held; two minutes were seen to be no different (2026-11-30). */
  private static final Duration HELD = Duration.ofSeconds(Long.getLong("silent.seconds", 15));

  /** Bytes of their own for each would take twice the heap of 64 MB. */
  private static final int READERS = 100;

  private static final int MANY = 3_000;

  /** A client that takes nothing for so long is cut off. */
  private static final Duration CUT_OFF = Duration.ofSeconds(30);

  private static final int OPENED_AT_ONCE = 200;

  /** Fills the receive window of a client, so that the gateway has to wait for it. */
  private static final int WINDOW_BYTES = 4 << 10;

  @Test
  void eachPublicRouteHasReaders() {
    assertThat(OpenRoute.values())
        .filteredOn(route -> route != OpenRoute.METRICS)
        .allMatch(route -> TARGETS.stream().anyMatch(target -> target.matches(pattern(route))))
        .hasSameSizeAs(TARGETS);
  }

  private static String pattern(OpenRoute route) {
    return route.path().replaceAll("\\{[a-z]+}", "[^/]+");
  }

  @Test
  void readersOfAStaticFileShareItsBytes() throws Exception {
    IdleConnections.require(READERS);
    TestDatabase database = TestDatabase.fresh();
    try (GatewayChild gateway = GatewayChild.serve(database, "64m", Map.of());
        Silent readers = new Silent(gateway.uri())) {
      readers.open(READERS, request(LARGEST).repeat(4));

      // The buffers of the kernel take a part of each file, which lasts on a slow machine.
      nextAnswers(gateway, database).areRight();
      requireAlive(gateway.uri());
    }
  }

  /**
   * More than 8 KiB for each would not fit into the heap of 64 MB. These are as many as a busy
   * machine opens before the first of them are cut off.
   */
  @Test
  @Tag("faults")
  @Tag("alone")
  void silentReadersHoldNoThreadAndAtMostEightKibEach() throws Exception {
    IdleConnections.require(MANY);
    assumeTrue(
        Files.exists(Path.of("/proc/self/task")), "no /proc tells how many threads there are");
    TestDatabase database = TestDatabase.fresh();
    try (GatewayChild gateway =
            GatewayChild.serve(
                database, "64m", Map.of("COATCHECK_CONNECTIONS_MAX", "" + (MANY + 100)));
        Silent readers = new Silent(gateway.uri())) {
      long from = System.nanoTime();
      for (int opened = 0; opened < MANY; opened += OPENED_AT_ONCE) {
        readers.open(OPENED_AT_ONCE, request(LARGEST));
        requireAlive(gateway.uri());
      }
      long took = System.nanoTime() - from;
      assumeTrue(took < CUT_OFF.toNanos(), "the first were cut off before the last came");

      assertThat(threads(gateway)).isLessThan(MANY / 10);
      nextAnswers(gateway, database).areRight();
    }
  }

  private static long threads(GatewayChild gateway) throws IOException {
    try (Stream<Path> tasks = Files.list(Path.of("/proc/%d/task".formatted(gateway.pid())))) {
      return tasks.count();
    }
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  @Timeout(value = 1, unit = TimeUnit.HOURS) // of two minutes each they take half of it
  void twoThousandSilentReadersOfEachPublicRouteEndNothing() throws Exception {
    IdleConnections.require(2 * 2_000); // those of a route may still end while the next are opened
    TestDatabase database = TestDatabase.fresh();
    try (GatewayChild gateway =
        GatewayChild.serve(database, "256m", Map.of("COATCHECK_CONNECTIONS_MAX", "4100"))) {
      for (String target : TARGETS) {
        try (Silent readers = new Silent(gateway.uri())) {
          // Many answers for one connection, so that small ones fill the window too. Not all 80,000
          // requests at once, which keep the cores of a small machine busy for more than a second.
          String requests = request(target).repeat(target.equals(LARGEST) ? 1 : 40);
          for (int opened = 0; opened < 2_000; opened += OPENED_AT_ONCE) {
            readers.open(OPENED_AT_ONCE, requests);
            requireAlive(gateway.uri());
          }
          long until = System.nanoTime() + HELD.toNanos();
          while (System.nanoTime() < until) {
            requireAlive(gateway.uri());
            Thread.sleep(200);
          }
        }
        nextAnswers(gateway, database).areRight();
      }
    }
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void aClientThatTakesNothingForHalfAMinuteIsCutOff() throws Exception {
    TestDatabase database = TestDatabase.fresh();
    try (GatewayChild gateway = GatewayChild.serve(database);
        Silent readers = new Silent(gateway.uri());
        MachineDelay delay = MachineDelay.measure()) {
      readers.open(20, request(LARGEST));
      Thread.sleep(Duration.ofSeconds(33));

      delay.requireTimely();
      // What lies in the kernel's buffers still comes, and then the end, before the whole file.
      assertThat(readers.readToTheEnd()).allMatch(bytes -> bytes < 1_500_000);
    }
  }

  private static String request(String target) {
    if (target.equals(OpenRoute.REVOKE_LEAKED.path())) {
      return "POST " + target + " HTTP/1.1\r\nHost: gateway\r\nContent-Length: 2\r\n\r\n{}";
    }
    // As a browser, which gets pages where other clients get less.
    return "GET " + target + " HTTP/1.1\r\nHost: gateway\r\nAccept: text/html\r\n\r\n";
  }

  private static void requireAlive(URI gateway) throws IOException, InterruptedException {
    try (HttpClient http = HttpClient.newHttpClient();
        MachineDelay delay = MachineDelay.measure()) {
      long from = System.nanoTime();
      int status =
          http.send(
                  HttpRequest.newBuilder(gateway.resolve("/health/live"))
                      .timeout(Duration.ofSeconds(30))
                      .build(),
                  BodyHandlers.ofString())
              .statusCode();
      assertThat(status).isEqualTo(200);
      delay.requireWithin(LIVE_MAX, Duration.ofNanos(System.nanoTime() - from));
    }
  }

  private static NextAnswers nextAnswers(GatewayChild gateway, TestDatabase database) {
    return new NextAnswers(gateway.uri(), GatewayFixture.keyOn(database));
  }

  /** Connections that send and don't read. */
  private static final class Silent implements AutoCloseable {
    private final InetSocketAddress gateway;
    private final List<SocketChannel> channels = new ArrayList<>();

    Silent(URI gateway) {
      this.gateway = new InetSocketAddress(gateway.getHost(), gateway.getPort());
    }

    void open(int count, String request) throws IOException {
      ByteBuffer sent = StandardCharsets.US_ASCII.encode(request);
      for (int i = 0; i < count; i++) {
        SocketChannel channel = SocketChannel.open();
        channels.add(channel);
        channel.setOption(StandardSocketOptions.SO_RCVBUF, WINDOW_BYTES);
        channel.connect(gateway);
        channel.write(sent.duplicate());
      }
    }

    /** How many bytes came on each. */
    List<Long> readToTheEnd() {
      ByteBuffer buffer = ByteBuffer.allocate(64 << 10);
      return channels.stream().map(channel -> readToTheEnd(channel, buffer)).toList();
    }

    private static long readToTheEnd(SocketChannel channel, ByteBuffer buffer) {
      long bytes = 0;
      try {
        for (int read = 0; read >= 0; read = channel.read(buffer.clear())) {
          bytes += read;
        }
      } catch (IOException reset) {
        // An end too.
      }
      return bytes;
    }

    @Override
    public void close() throws IOException {
      for (SocketChannel channel : channels) {
        channel.close();
      }
    }
  }
}
