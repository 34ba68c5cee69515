package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.MachineDelay;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What holds for every operation alike: access, sizes, media types, and an outage of Postgres. */
class EveryOperationTest {
  /** Method, path and body of each; ID is a public ID that is in order. */
  private static final String TABLE =
      """
      GET /v1/access/self
      GET /v1/access/keys
      POST /v1/access/keys {"name":"edge","scopes":["ids:read"]}
      GET /v1/access/keys/key_000000000000
      PATCH /v1/access/keys/key_000000000000 {"name":"edge"}
      POST /v1/access/keys/key_000000000000/rotate {"overlap_seconds":0}
      POST /v1/access/keys/key_000000000000/revoke {}
      POST /v1/access/keys/revoke-leaked {"keys":["none"]}
      GET /v1/types
      GET /v1/types/charge
      PUT /v1/types/charge {"prefix":"ch","key":"bigint"}
      PATCH /v1/types/charge {"on_outage":"refuse"}
      GET /v1/types/charge/keys/1
      GET /v1/types/charge/aliases/legacy/1
      GET /v1/types/charge/legacy-hits
      GET /v1/types/charge/legacy-callers
      GET /v1/ids?type=charge
      POST /v1/ids {"type":"charge","key":"1"}
      POST /v1/ids/batch {"type":"charge","count":1}
      POST /v1/ids/resolve {"ids":["ID"]}
      POST /v1/ids/lookup {"type":"charge","keys":["1"]}
      GET /v1/ids/ID
      GET /v1/ids/ID/aliases
      PUT /v1/ids/ID/aliases/legacy/1
      DELETE /v1/ids/ID/aliases/legacy/1
      POST /v1/ids/ID/revoke {}
      POST /v1/ids/ID/merge {"into":"ID"}
      GET /v1/ids/ID/erase
      POST /v1/ids/ID/erase
      POST /v1/ids/revoke {"items":[{"id":"ID"}]}
      POST /v1/ids/merge {"items":[{"id":"ID","into":"ID"}]}
      POST /v1/keys {"scheme":"snowflake","count":1}
      GET /v1/keys/bounds?type=charge&from=2026-01-01T00:00:00Z
      POST /v1/keys/fence {"advance":0}
      POST /v1/leases {"holder":"shop-1"}
      PUT /v1/leases/00000000000000000000000000000000 {"epoch":1,"until":"2026-01-01T00:00:00Z"}
      DELETE /v1/leases/00000000000000000000000000000000
      GET /v1/segments
      PUT /v1/segments/invoice {}
      GET /v1/workers
      GET /v1/changes
      GET /v1/inspect/42
      GET /v1/audit
      GET /v1/audit/export
      GET /v1/legacy/charge/1
      POST /v1/legacy/resolve {"type":"charge","legacy_ids":["1"]}
      GET /legacy/charge/1
      HEAD /legacy/charge/1
      GET /v1/urls/resolve?url=/charges/ID
      GET /v1/urls/auth-request
      GET /v1/urls/ext-authz/ID
      POST /v1/urls/publish {"url":"/charges/1","template":"/charges/{charge}"}
      POST /v1/urls/resolve {"urls":["/charges/ID"]}
      POST /v1/imports type,key
      GET /v1/exports?type=charge
      POST /v1/types/charge/eras {"seal_key":"0123456789abcdef"}
      POST /v1/types/charge/pin {"seal_key":"0123456789abcdef","close":true}
      POST /v1/table-migrations {"table":"orders","type":"charge"}
      GET /v1/table-migrations
      GET /v1/table-migrations/7
      GET /v1/table-migrations/7/events
      GET /v1/table-migrations/7/old-columns
      PATCH /v1/table-migrations/7 {"batch_millis":100}
      POST /v1/table-migrations/7/start {}
      POST /v1/table-migrations/7/import legacy_id
      POST /v1/table-migrations/7/pause
      POST /v1/table-migrations/7/resume
      POST /v1/table-migrations/7/retry
      POST /v1/table-migrations/7/cancel
      POST /v1/table-migrations/7/verify
      POST /v1/table-migrations/7/switch {}
      POST /v1/table-migrations/7/contract {"confirm":"public.orders"}
      GET /v1/table-migrations/7/retirement?new_keys=none
      POST /v1/table-migrations/7/retire {"confirm":"public.orders","new_keys":"none"}
      POST /v1/table-migrations/7/undo {}
      POST /v1/table-migrations/7/forget
      GET /r/ID
      HEAD /r/ID
      GET /metrics
      """;

  /** They need neither an API key nor the database. */
  private static final List<String> PAGES =
      List.of(
          "/health/live",
          "/health/ready",
          "/openapi.yaml",
          "/docs",
          "/docs/errors",
          "/docs/assets/docs.css");

  private static final List<String> WRITING = List.of("POST", "PUT", "PATCH", "DELETE");

  /** By POST, because the question is long. */
  private static final List<String> READING =
      List.of(
          "/v1/ids/resolve",
          "/v1/ids/lookup",
          "/v1/legacy/resolve",
          "/v1/urls/resolve",
          "/v1/urls/publish");

  /** By POST, and the same after a second call. */
  private static final List<String> ENDING_KEYS =
      List.of("/v1/access/keys/key_000000000000/revoke", "/v1/access/keys/revoke-leaked");

  static final List<Call> CALLS = TABLE.lines().map(Call::parse).toList();

  record Call(String method, String path, @Nullable String body) {
    static Call parse(String line) {
      String[] words = line.replace("ID", TestClient.UNKNOWN_ID).split(" ", 3);
      // A file of one row: imports take no JSON.
      String body = words.length < 3 ? null : words[2].replaceFirst("^([a-z,_]+)$", "$1\n1,1\n");
      return new Call(words[0], words[1], body);
    }

    /** For the name of its table, which the caller confirms. */
    boolean looksAtItsRunFirst() {
      return path.endsWith("/contract") || path.endsWith("/retire");
    }

    /** By HTTP's definition of its method, as a merge patch, or because it only reads. */
    boolean isHarmlessAgain() {
      return !List.of("POST", "PATCH").contains(method)
          || (method.equals("PATCH") && !path.startsWith("/v1/table-migrations/"))
          || ENDING_KEYS.contains(path)
          || READING.contains(path);
    }

    boolean isOf(ContractDocument.Operation operation) {
      return operation.method().equalsIgnoreCase(method)
          && path.split("\\?", 2)[0].matches(operation.path().replaceAll("\\{\\w+}", "[^/]+"));
    }

    boolean isOpen() {
      return path.startsWith("/r/")
          || path.startsWith("/legacy/")
          || path.endsWith("/revoke-leaked");
    }

    /** Whatever its scopes. */
    boolean isForAnyKey() {
      return path.equals("/v1/access/self");
    }

    /** Imports take bodies of any length, and no JSON. */
    boolean isImport() {
      return path.endsWith("/import") || path.endsWith("/imports");
    }
  }

  @RegisterExtension
  static final GatewayFixture GATEWAY = GatewayFixture.own("COATCHECK_ACCESS_ON_OUTAGE", "refuse");

  // Only one operation takes the header, and the others don't mind.
  private static final TestClient CLIENT = GATEWAY.client().with("X-Original-URI", "/");

  /** Again before each test: one of the operations puts a type without policies. */
  @BeforeEach
  void types() {
    CLIENT.put(
        TestType.of("charge", "ch")
            .redirect("https://shop.example/charges/{id}")
            .with("legacy", Map.of())
            .with("on_outage", "refuse"));
    // Served from memory in an outage, so that the instance stays ready.
    CLIENT.put(TestType.of("user", "usr"));
    assertThat(CLIENT.get("/metrics").status()).isEqualTo(200);
  }

  @Test
  void badRequestsAreRefused() {
    TestClient scopeless = GATEWAY.clientWith(new Scope("nothing")).with("X-Original-URI", "/");
    for (Call call : CALLS) {
      expect(call, sendHostile(call, 9_000, 0), 414);
      expect(call, sendHostile(call, 0, 200), 431);
      expect(call, sendTwoKeys(call), 400);
      if (!call.isOpen()) {
        expect(call, send(CLIENT.anonymous(), call), 401);
        expect(call, send(scopeless, call), call.isForAnyKey() ? 200 : 403);
      }
      if (call.body() != null) {
        String large = json("type", "x".repeat(1_100_000));
        if (!call.isImport()) {
          expect(call, CLIENT.hostile().send(call.method(), call.path(), large).status(), 413);
        }
        expect(call, send(CLIENT.hostile().with("Content-Type", "text/plain"), call), 415);
      }
    }
  }

  @Test
  void aKeyWithoutQuotaIsRefusedByEveryOperation() {
    TestClient limited = limitedTo(1, 3_600);
    assertThat(limited.get("/v1/types").status()).isEqualTo(200);
    for (Call call : CALLS) {
      if (!call.isOpen()) {
        expect(call, send(limited, call), 429);
      }
    }
  }

  @Test
  void aBatchOfMoreItemsThanTheQuotaIsRefused() {
    for (String batch :
        List.of(
            "/v1/ids/batch {'type':'charge','count':2}",
            "/v1/ids/resolve {'ids':['ID','ID']}",
            "/v1/ids/lookup {'type':'charge','keys':['1','2']}",
            "/v1/ids/revoke {'items':[{'id':'ID'},{'id':'ID'}]}",
            "/v1/ids/merge {'items':[{'id':'ID','into':'ID'},{'id':'ID','into':'ID'}]}",
            "/v1/legacy/resolve {'type':'charge','legacy_ids':['1','2']}",
            "/v1/urls/resolve {'urls':['/charges/ID','/charges/ID']}",
            "/v1/keys {'scheme':'snowflake','count':2}")) {
      Call call = Call.parse("POST " + batch.replace('\'', '"'));
      assertProblem(reply(limitedTo(1, 3_600), call), "422 batch_exceeds_quota");
    }
  }

  /** A client whose API key has a limit of its own. */
  private static TestClient limitedTo(int requests, int seconds) {
    String key = GATEWAY.keyWith(Scope.ALL);
    GATEWAY.execute(
        "update coatcheck.api_key set limit_requests = %d, limit_seconds = %d where key_id = '%s'"
            .formatted(requests, seconds, key.substring(9, 21)));
    return new TestClient(GATEWAY.uri(), key).with("X-Original-URI", "/");
  }

  @Test
  void longRequestsToPagesAreRefused() {
    for (String path : PAGES) {
      Call call = new Call("GET", path, null);
      expect(call, sendHostile(call, 9_000, 0), 414);
      expect(call, sendHostile(call, 0, 200), 431);
    }
  }

  /**
   * A key that can't be read is refused by what keeps answers, and by what could but doesn't; a
   * call whose repetition is harmless doesn't mind. So no call passes over a key that it needs.
   */
  @Test
  void anIdempotencyKeyIsKeptOrNotNeededOrRefused() {
    TestClient keyed = CLIENT.hostile().with("Idempotency-Key", "\"open");
    List<Call> refused = new ArrayList<>();
    for (Call call : CALLS) {
      Reply reply = reply(keyed, call);
      if (call.isHarmlessAgain()) {
        // A segment that is there already is 200 instead of 201.
        assertThat(reply.status() / 100)
            .as("%s", call)
            .isEqualTo(send(CLIENT.hostile(), call) / 100);
      } else if (!call.looksAtItsRunFirst()) {
        assertProblem(reply, "400 header_invalid Idempotency-Key");
        refused.add(call);
      }
    }
    ContractDocument contract = ContractDocument.read();
    String table =
        contract
            .root()
            .at("/info/description")
            .stringValue()
            .lines()
            .filter(line -> line.startsWith("| refused with 400 `header_invalid` |"))
            .findFirst()
            .orElseThrow();
    assertThat(
            contract.operations().stream()
                .filter(operation -> refused.stream().anyMatch(call -> call.isOf(operation)))
                .filter(
                    operation ->
                        !operation.node().path("parameters").toString().contains("Idempotency-Key"))
                .map(
                    operation ->
                        "`%s %s`"
                            .formatted(
                                operation.method().toUpperCase(Locale.ROOT), operation.path())))
        .isNotEmpty()
        .allMatch(table::contains);
    // An operation that is new in the contract has to be here.
    assertThat(CALLS.stream().filter(call -> WRITING.contains(call.method())))
        .hasSameSizeAs(
            contract.operations().stream()
                .filter(operation -> WRITING.contains(operation.method().toUpperCase(Locale.ROOT)))
                .toList());
  }

  /** All at once, because each takes five seconds. */
  @Test
  void silentSendersAreBrokenOff() throws Exception {
    List<Call> silent =
        CALLS.stream().filter(call -> call.body() != null && !call.isImport()).toList();
    together(silent.size(), silent, call -> expect(call, sendSilent(call), 408));
  }

  private static void together(int threads, List<Call> calls, Consumer<Call> ask) throws Exception {
    try (ExecutorService askers = Executors.newFixedThreadPool(threads)) {
      List<Future<?>> asked = new ArrayList<>();
      for (Call call : calls) {
        asked.add(askers.submit(() -> ask.accept(call)));
      }
      for (Future<?> each : asked) {
        each.get();
      }
    }
  }

  private static int sendSilent(Call call) {
    List<String> lines = lines(call, call.path());
    lines.add("Content-Type: application/json");
    lines.add("Content-Length: 10");
    return raw(call, lines);
  }

  @Test
  void anOutageIs503WithinASecondAndThenAllIsAsBefore() throws Exception {
    GATEWAY.setReachable(false);
    TestClient once = CLIENT.once();
    try (MachineDelay delay = MachineDelay.measure()) {
      Awaitility.await("the API key is trusted until the feed is silent")
          .until(() -> once.get("/v1/types").status() == 503);
      together(
          8,
          CALLS,
          call -> {
            long from = System.nanoTime();
            expect(call, send(once, call), 503);
            delay.requireWithin(Duration.ofSeconds(1), Duration.ofNanos(System.nanoTime() - from));
          });
      // There are types that are served from memory for a minute.
      assertThat(once.get("/health/ready").status()).isEqualTo(200);
      assertThat(CLIENT.get("/health/live").status()).isEqualTo(200);
      // What never needs the database is answered as ever.
      assertThat(CLIENT.anonymous().get("/r/ch_x").status()).isEqualTo(404);
    } finally {
      GATEWAY.setReachable(true);
    }
    Awaitility.await().until(() -> CLIENT.get("/v1/types").status() == 200);
  }

  private static int send(TestClient client, Call call) {
    return reply(client, call).status();
  }

  private static Reply reply(TestClient client, Call call) {
    return client
        .withDefault("Content-Type", call.isImport() ? "text/csv" : "application/json")
        .send(call.method(), call.path(), call.body());
  }

  private static int sendHostile(Call call, int pathBytes, int headers) {
    String separator = call.path().contains("?") ? "&" : "?";
    String target = pathBytes == 0 ? call.path() : call.path() + separator + "x".repeat(pathBytes);
    List<String> lines = lines(call, target);
    lines.addAll(Collections.nCopies(headers, "X-Many: 1"));
    return raw(call, lines);
  }

  private static int sendTwoKeys(Call call) {
    List<String> lines = lines(call, call.path());
    lines.add("Authorization: Bearer other");
    return raw(call, lines);
  }

  private static List<String> lines(Call call, String target) {
    return new ArrayList<>(
        List.of(
            call.method() + " " + target + " HTTP/1.1",
            "Host: gateway",
            "Connection: close",
            "Authorization: Bearer " + GATEWAY.key()));
  }

  private static int raw(Call call, List<String> lines) {
    try {
      RawHttp.Reply reply =
          RawHttp.send(
              "127.0.0.1",
              GATEWAY.uri().getPort(),
              RawHttp.request(lines, "".getBytes(StandardCharsets.US_ASCII)));
      Contract.load()
          .checkAnswer(
              new Contract.Sent(call.method(), call.path(), Map.of(), null), reply.answer());
      return reply.status();
    } catch (IOException broken) {
      throw new AssertionError(call.toString(), broken);
    }
  }

  private static void expect(Call call, int actual, int status) {
    assertThat(actual).as("%s %s", call.method(), call.path()).isEqualTo(status);
  }
}
