package dev.coatcheck.api.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.routes.RawHttp;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** Sends requests byte for byte, and sees which door their answers came through. */
final class Doors {
  /** The door leaves requests with this header to the routes, which don't care for it. */
  static final String TO_THE_ROUTES = "Content-Length: 0";

  static final String TO_THE_DOOR = "Accept: */*";

  private static final Pattern TIME = Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z");

  private static final int TIMEOUT_MILLIS = 5_000;
  private static final int TRIES_MAX = 10;

  private final GatewayFixture gateway;

  Doors(GatewayFixture gateway) {
    this.gateway = gateway;
  }

  /** What the metrics say of the answers to requests. */
  record Seen(double hot, double loaded, double counted, int series) {
    private static final Pattern LOADED =
        Pattern.compile("coatcheck_requests_loaded_total ([0-9.E]+)");
    private static final Pattern CACHED =
        Pattern.compile("coatcheck_requests_cached_total ([0-9.E]+)");
    private static final Pattern COUNTED =
        Pattern.compile("coatcheck_requests_seconds_count\\{.*\\} ([0-9.E]+)");

    private static double number(MatchResult match) {
      return Double.parseDouble(match.group(1));
    }
  }

  /** A request is counted after its answer is sent. */
  Seen seenOnce(double counted) {
    return await()
        .pollInterval(Duration.ofMillis(5))
        .until(this::seen, seen -> seen.counted() == counted);
  }

  /** The sum of a counter. */
  double number(String metric) throws IOException {
    return Pattern.compile(metric + "(?:\\{.*\\})? ([0-9.E]+)")
        .matcher(metrics())
        .results()
        .mapToDouble(Seen::number)
        .sum();
  }

  private String metrics() throws IOException {
    URI management = gateway.managementUri();
    return RawHttp.send(
            management.getHost(),
            management.getPort(),
            RawHttp.request(
                List.of("GET /metrics HTTP/1.1", "Host: a", "Connection: close"), new byte[0]))
        .body();
  }

  Seen seen() throws IOException {
    String text = metrics();
    // The scrapes count themselves.
    List<Double> counted =
        Seen.COUNTED
            .matcher(text.replaceAll("(?m)^.*route=\"/metrics\".*$", ""))
            .results()
            .map(Seen::number)
            .toList();
    return new Seen(
        Seen.CACHED.matcher(text).results().mapToDouble(Seen::number).sum(),
        Seen.LOADED.matcher(text).results().mapToDouble(Seen::number).sum(),
        counted.stream().mapToDouble(Double::doubleValue).sum(),
        counted.size());
  }

  /** Sends a request with a header that says through which door, and returns its answer. */
  interface Call {
    String send(String header) throws IOException;
  }

  /**
   * Both doors give the same bytes, by one name in the metrics. Tried until the door has answered
   * the request itself, as a counter says: on a busy machine it may leave the request to the
   * routes, or neither has an answer in time.
   */
  void requireSame(ToDoubleFunction<Seen> counter, Call call) throws IOException {
    for (int tried = 1; ; tried++) {
      Seen before = seen();
      String routes = nameless(call.send(TO_THE_ROUTES));
      Seen between = seenOnce(before.counted() + 1);
      String door = nameless(call.send(TO_THE_DOOR));
      Seen after = seenOnce(before.counted() + 2);

      if (!isUnavailable(routes) && !isUnavailable(door)) {
        assertThat(door).isEqualTo(routes);
        assertThat(counter.applyAsDouble(between)).isEqualTo(counter.applyAsDouble(before));
        assertThat(after.series()).as("one name in the metrics").isEqualTo(between.series());
        if (counter.applyAsDouble(after) == counter.applyAsDouble(between) + 1) {
          return;
        }
      }
      assertThat(tried).as("tries to get an answer through the door").isLessThan(TRIES_MAX);
    }
  }

  /** The same, whoever answers; tried again while one has no answer in time. */
  static void requireSame(Call call) throws IOException {
    for (int tried = 1; ; tried++) {
      String door = nameless(call.send(TO_THE_DOOR));
      String routes = nameless(call.send(TO_THE_ROUTES));
      if (isUnavailable(door) == isUnavailable(routes) || tried == TRIES_MAX) {
        assertThat(door).isEqualTo(routes);
        return;
      }
    }
  }

  static boolean isUnavailable(String answer) {
    return answer.startsWith("HTTP/1.1 503 ");
  }

  String authorization() {
    return "Authorization: Bearer " + gateway.key();
  }

  String answer(String target, String header) throws IOException {
    return raw(target, List.of(authorization(), header));
  }

  /** All bytes of an answer, headers in their order. */
  String raw(String target, List<String> headers) throws IOException {
    return send(target, headers, "");
  }

  String send(String target, List<String> headers, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    List<String> lines = new ArrayList<>(List.of(target + " HTTP/1.1", "Host: a"));
    lines.addAll(headers);
    lines.add("Connection: close");
    if (bytes.length > 0) {
      lines.add("Content-Length: " + bytes.length);
    }
    try (Socket socket = new Socket(gateway.uri().getHost(), gateway.uri().getPort())) {
      socket.setSoTimeout(TIMEOUT_MILLIS);
      socket.getOutputStream().write(RawHttp.request(lines, bytes));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }

  /** The answer without its date and its name, which has not always the same length. */
  static String nameless(String answer) {
    MatchResult name =
        Pattern.compile("Request-Id: (\\S+)").matcher(answer).results().findFirst().orElseThrow();
    String rest = answer.replaceFirst("Date: .*", "Date").replace(name.group(1), "");
    return answer.contains("application/problem+json")
        ? shorter(rest, name.group(1).length())
        : rest;
  }

  /** The answer without its times, which are shorter where they end in a zero. */
  static String timeless(String answer) {
    int length = TIME.matcher(answer).results().mapToInt(time -> time.group().length()).sum();
    return shorter(TIME.matcher(answer).replaceAll("TIME"), length);
  }

  private static String shorter(String answer, int by) {
    return Pattern.compile("Content-Length: ([0-9]+)")
        .matcher(answer)
        .replaceFirst(length -> "Content-Length: " + (Integer.parseInt(length.group(1)) - by));
  }
}
