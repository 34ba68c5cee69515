package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.cluster.lease.FaultProxy;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSession;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Mixed load while Postgres hangs, or only a part of it. */
@Tag("faults")
@Tag("alone")
class HalfOutageTest {
  private static final Duration PROMISED = Duration.ofSeconds(1);
  private static final Duration OUTAGE = Duration.ofSeconds(5);
  private static final int USERS = 24;
  private static final int CHECKED = 1_000;

  private record Exchange(String what, int status, Duration took) {}

  private final HttpClient http = HttpClient.newHttpClient();
  private final AtomicLong number = new AtomicLong();

  @Test
  void whenPostgresHangsEveryAnswerComesWithinASecondAndItHealsWithinASecond() throws Exception {
    TestDatabase database = TestDatabase.fresh();
    try (FaultProxy proxy = new FaultProxy(database.port());
        GatewayFixture gateway =
            GatewayFixture.on(
                database, "COATCHECK_DATABASE_URL", database.behind(proxy.port()).url())) {
      attack(gateway, () -> proxy.freeze(true), () -> proxy.freeze(false), Set.of(200, 302));
    }
  }

  @Test
  void whenMappingsAreLockedCachedRedirectsAreServedAndNobodyWaitsForLong() throws Exception {
    lock("coatcheck.public_id");
  }

  @Test
  void whenNamesAreLockedNobodyWaitsForLong() throws Exception {
    lock("coatcheck.alias");
  }

  private void lock(String table) throws Exception {
    try (GatewayFixture gateway = GatewayFixture.own();
        TestSession holder = gateway.sql().session()) {
      attack(
          gateway,
          () -> {
            holder.begin("lock table " + table + " in access exclusive mode");
          },
          holder::rollback,
          Set.of(200, 302));
    }
  }

  private interface Fault {
    void run() throws Exception;
  }

  private void attack(GatewayFixture gateway, Fault begin, Fault end, Set<Integer> cached)
      throws Exception {
    TestClient client = gateway.client();
    client.put(
        TestType.of("thing", "thing")
            .with("redirect", Map.of("template", "https://a.example/{id}", "public", true)));
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      ids.add(client.mint("thing").text("/id"));
    }
    List<String> hot = ids.subList(0, 20);
    List<String> cold = ids.subList(20, 300);
    hot.forEach(id -> client.get("/v1/ids/" + id));
    Queue<Exchange> exchanges = new ConcurrentLinkedQueue<>();
    try (MachineDelay delay = MachineDelay.measure();
        ExecutorService users = Executors.newVirtualThreadPerTaskExecutor()) {
      begin.run();
      List<Future<?>> load = new ArrayList<>();
      for (int user = 0; user < USERS; user++) {
        int kind = user;
        load.add(users.submit(() -> ask(gateway, kind, hot, cold, exchanges)));
      }
      for (Future<?> each : load) {
        each.get();
      }
      end.run();
      long healed = System.nanoTime();
      Exchange first;
      do {
        first = send(gateway, "mint", "POST", "/v1/ids", json("type", "thing"));
      } while (first.status() != 201
          && System.nanoTime() - healed < Duration.ofSeconds(30).toNanos());
      delay.requireWithin(PROMISED, Duration.ofNanos(System.nanoTime() - healed));
      for (String what : List.of("mint", "named", "cold", "type", "cached")) {
        delay.requireWithin(PROMISED, p99(exchanges, what));
      }
    }
    assertThat(exchanges).isNotEmpty();
    assertThat(exchanges)
        .filteredOn(exchange -> exchange.what().equals("cached"))
        .allMatch(exchange -> cached.contains(exchange.status()), "is served");
    assertThat(exchanges)
        .filteredOn(exchange -> !exchange.what().equals("cached"))
        .allMatch(
            exchange -> Set.of(200, 201, 404, 409, 503).contains(exchange.status()), "is honest");
    assertThat(exchanges)
        .filteredOn(exchange -> exchange.what().equals("type"))
        .allMatch(exchange -> exchange.status() != 201);
    for (int i = 0; i < CHECKED; i++) {
      String id = ids.get(i % ids.size());
      assertThat(client.get("/v1/ids/" + id).text("/id")).isEqualTo(id);
    }
  }

  /** Of one kind; the machine's delay, which is added to the bound, is a 99th percentile too. */
  private static Duration p99(Queue<Exchange> exchanges, String what) {
    List<Duration> took =
        exchanges.stream()
            .filter(exchange -> exchange.what().equals(what))
            .map(Exchange::took)
            .sorted()
            .toList();
    return took.get((took.size() * 99 + 99) / 100 - 1);
  }

  private Object ask(
      GatewayFixture gateway,
      int kind,
      List<String> hot,
      List<String> cold,
      Queue<Exchange> exchanges)
      throws Exception {
    long begun = System.nanoTime();
    for (int turn = 0; System.nanoTime() - begun < OUTAGE.toNanos(); turn++) {
      exchanges.add(
          switch (kind % 6) {
            case 0 -> send(gateway, "mint", "POST", "/v1/ids", json("type", "thing"));
            case 1 ->
                send(
                    gateway,
                    "named",
                    "POST",
                    "/v1/ids",
                    json(
                        "type",
                        "thing",
                        "legacy_id",
                        String.valueOf(1 + number.incrementAndGet())));
            case 2 ->
                send(
                    gateway,
                    "cold",
                    "GET",
                    "/v1/ids/" + cold.get((int) (number.incrementAndGet() % cold.size())),
                    null);
            case 3 -> send(gateway, "type", "POST", "/v1/ids", json("type", "nothing"));
            default -> send(gateway, "cached", "GET", "/r/" + hot.get(turn % hot.size()), null);
          });
    }
    return exchanges;
  }

  private Exchange send(
      GatewayFixture gateway, String what, String method, String path, @Nullable String body)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(gateway.uri() + path))
            .header("Authorization", "Bearer " + gateway.key())
            .header("Content-Type", "application/json")
            .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .build();
    long from = System.nanoTime();
    HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
    return new Exchange(what, response.statusCode(), Duration.ofNanos(System.nanoTime() - from));
  }
}
