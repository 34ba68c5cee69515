package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertPut;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.access.Scope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** What holds for every operation alike: access, sizes, media types, and an outage of Postgres. */
final class EveryOperation {
  private static final String ID = "ch_00000000000000000000002B";

  private static final String RUNS = "/v1/table-migrations";

  private record Call(String method, String path, @Nullable String body, boolean secured) {
    /** Imports take bodies of any length, and no JSON. */
    boolean isImport() {
      return path.endsWith("/import") || path.endsWith("/imports");
    }
  }

  private static final List<Call> CALLS =
      List.of(
          new Call("GET", "/v1/types", null, true),
          new Call("GET", "/v1/types/charge", null, true),
          new Call(
              "PUT", "/v1/types/charge", json("prefix", "ch", "key_scheme", "snowflake"), true),
          new Call("GET", "/v1/types/charge/keys/1", null, true),
          new Call("GET", "/v1/types/charge/aliases/legacy/1", null, true),
          new Call("GET", "/v1/ids?type=charge", null, true),
          new Call("POST", "/v1/ids", json("type", "charge", "key", "1"), true),
          new Call("POST", "/v1/ids/batch", json("type", "charge", "count", 1), true),
          new Call("POST", "/v1/ids/resolve", json("ids", List.of(ID)), true),
          new Call("POST", "/v1/ids/lookup", json("type", "charge", "keys", List.of("1")), true),
          new Call("GET", "/v1/ids/" + ID, null, true),
          new Call("PUT", "/v1/ids/" + ID + "/aliases/legacy/1", null, true),
          new Call("POST", "/v1/ids/" + ID + "/revoke", "{}", true),
          new Call("POST", "/v1/ids/" + ID + "/merge", json("into", ID), true),
          new Call("POST", "/v1/ids/revoke", json("items", List.of(Map.of("id", ID))), true),
          new Call(
              "POST", "/v1/ids/merge", json("items", List.of(Map.of("id", ID, "into", ID))), true),
          new Call("POST", "/v1/keys", json("scheme", "snowflake", "count", 1), true),
          new Call("GET", "/v1/keys/bounds?type=charge&from=2026-01-01T00:00:00Z", null, true),
          new Call("POST", "/v1/keys/fence", json("advance", 0), true),
          new Call("GET", "/v1/segments", null, true),
          new Call("PUT", "/v1/segments/invoice", "{}", true),
          new Call("GET", "/v1/workers", null, true),
          new Call("GET", "/v1/inspect/42", null, true),
          new Call("GET", "/v1/legacy/charge/1", null, true),
          new Call(
              "POST",
              "/v1/legacy/resolve",
              json("type", "charge", "legacy_ids", List.of("1")),
              true),
          new Call("GET", "/v1/types/charge/legacy-hits", null, true),
          new Call("GET", "/legacy/charge/1", null, false),
          new Call("HEAD", "/legacy/charge/1", null, false),
          new Call("GET", "/v1/urls/resolve?url=/charges/" + ID, null, true),
          new Call("GET", "/v1/urls/auth-request", null, true),
          new Call("GET", "/v1/urls/ext-authz/" + ID, null, true),
          new Call(
              "POST",
              "/v1/urls/publish",
              json("url", "/charges/1", "template", "/charges/{charge}"),
              true),
          new Call("POST", "/v1/urls/resolve", json("urls", List.of("/charges/" + ID)), true),
          new Call("POST", "/v1/imports", "type,key\ncharge,1\n", true),
          new Call("GET", "/v1/exports?type=charge", null, true),
          new Call("POST", RUNS, json("table", "orders", "type", "charge"), true),
          new Call("GET", RUNS, null, true),
          new Call("GET", RUNS + "/7", null, true),
          new Call("GET", RUNS + "/7/events", null, true),
          new Call("GET", RUNS + "/7/old-columns", null, true),
          new Call("PATCH", RUNS + "/7", json("batch_millis", 100), true),
          new Call("POST", RUNS + "/7/start", "{}", true),
          new Call("POST", RUNS + "/7/import", "legacy_id\n1\n", true),
          new Call("POST", RUNS + "/7/pause", null, true),
          new Call("POST", RUNS + "/7/resume", null, true),
          new Call("POST", RUNS + "/7/retry", null, true),
          new Call("POST", RUNS + "/7/cancel", null, true),
          new Call("POST", RUNS + "/7/verify", null, true),
          new Call("POST", RUNS + "/7/switch", "{}", true),
          new Call("POST", RUNS + "/7/contract", "{\"confirm\":\"public.orders\"}", true),
          new Call("POST", RUNS + "/7/undo", "{}", true),
          new Call("POST", RUNS + "/7/forget", null, true),
          new Call("GET", "/r/" + ID, null, false),
          new Call("HEAD", "/r/" + ID, null, false));

  private final GatewayFixture gateway;

  EveryOperation(GatewayFixture gateway) {
    this.gateway = gateway;
  }

  static void checkSharedOutcomes(GatewayFixture gateway) {
    new EveryOperation(gateway).check(CALLS);
  }

  /** The metrics where there is no management port. */
  static void checkMetrics(GatewayFixture gateway) {
    String type = json("prefix", "ch", "key_scheme", "snowflake");
    assertPut(gateway.client().put("/v1/types/charge", type));
    assertThat(gateway.client().get("/metrics").status()).isEqualTo(200);
    new EveryOperation(gateway).check(List.of(new Call("GET", "/metrics", null, true)));
  }

  private void check(List<Call> calls) {
    // Only one of them takes it, and the others don't mind.
    TestClient client = gateway.client().with("X-Original-URI", "/");
    TestClient scopeless = gateway.clientWith(new Scope("nothing")).with("X-Original-URI", "/");
    for (Call call : calls) {
      expect(call, sendHostile(call, 9_000, 0), 414);
      expect(call, sendHostile(call, 0, 200), 431);
      expect(call, sendTwoKeys(call), 400);
      if (call.secured()) {
        expect(call, send(client.anonymous(), call), 401);
        expect(call, send(scopeless, call), 403);
      }
      if (call.body() != null) {
        String large = json("type", "x".repeat(1_100_000));
        if (!call.isImport()) {
          expect(call, client.hostile().send(call.method(), call.path(), large).status(), 413);
        }
        expect(call, send(client.hostile().with("Content-Type", "text/plain"), call), 415);
      }
    }
    checkSilentSenders(calls.stream().filter(call -> call.body() != null).toList());
    checkOutage(client, calls);
  }

  /** All at once, because each takes five seconds. */
  private void checkSilentSenders(List<Call> calls) {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> silent =
          calls.stream()
              .filter(call -> !call.isImport())
              .<Future<?>>map(call -> threads.submit(() -> expect(call, sendSilent(call), 408)))
              .toList();
      for (Future<?> sender : silent) {
        sender.get();
      }
    } catch (InterruptedException | ExecutionException failed) {
      throw new AssertionError(failed);
    }
  }

  private int sendSilent(Call call) {
    List<String> lines = lines(call, call.path());
    lines.add("Content-Type: application/json");
    lines.add("Content-Length: 10");
    return raw(call, lines);
  }

  /** Postgres goes away and comes back: 503 within a second, and then all is as before. */
  private void checkOutage(TestClient client, List<Call> calls) {
    gateway.setReachable(false);
    TestClient once = client.once();
    try (MachineDelay delay = MachineDelay.measure()) {
      Awaitility.await("the API key is trusted until the feed is silent")
          .until(() -> once.get("/v1/types").status() == 503);
      for (Call call : calls) {
        long from = System.nanoTime();
        expect(call, send(once, call), 503);
        delay.requireWithin(Duration.ofSeconds(1), Duration.ofNanos(System.nanoTime() - from));
      }
      // There are types that are served from memory for a minute.
      assertThat(once.get("/health/ready").status()).isEqualTo(200);
      assertThat(client.get("/health/live").status()).isEqualTo(200);
      // What never needs the database is answered as ever.
      assertThat(client.anonymous().get("/r/ch_x").status()).isEqualTo(404);
    } finally {
      gateway.setReachable(true);
    }
    Awaitility.await().until(() -> client.get("/v1/types").status() == 200);
  }

  private static int send(TestClient client, Call call) {
    Reply reply =
        client
            .withDefault("Content-Type", call.isImport() ? "text/csv" : "application/json")
            .send(call.method(), call.path(), call.body());
    return reply.status();
  }

  private int sendHostile(Call call, int pathBytes, int headers) {
    String separator = call.path().contains("?") ? "&" : "?";
    String target = pathBytes == 0 ? call.path() : call.path() + separator + "x".repeat(pathBytes);
    List<String> lines = lines(call, target);
    lines.addAll(Collections.nCopies(headers, "X-Many: 1"));
    return raw(call, lines);
  }

  private int sendTwoKeys(Call call) {
    List<String> lines = lines(call, call.path());
    lines.add("Authorization: Bearer other");
    return raw(call, lines);
  }

  private List<String> lines(Call call, String target) {
    return new ArrayList<>(
        List.of(
            call.method() + " " + target + " HTTP/1.1",
            "Host: gateway",
            "Connection: close",
            "Authorization: Bearer " + gateway.key()));
  }

  private int raw(Call call, List<String> lines) {
    try {
      RawHttp.Reply reply =
          RawHttp.send(
              "127.0.0.1",
              gateway.uri().getPort(),
              RawHttp.request(lines, "".getBytes(StandardCharsets.US_ASCII)));
      Contract.load()
          .checkAnswer(
              new Contract.Sent(call.method(), call.path(), java.util.Map.of(), null),
              reply.answer());
      return reply.status();
    } catch (IOException broken) {
      throw new AssertionError(call.toString(), broken);
    }
  }

  private static void expect(Call call, int actual, int status) {
    assertThat(actual).as("%s %s", call.method(), call.path()).isEqualTo(status);
  }
}
