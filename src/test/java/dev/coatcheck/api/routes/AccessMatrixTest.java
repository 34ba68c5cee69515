package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.EveryOperationTest.Call;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.Prefix;
import dev.coatcheck.core.id.PublicId;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Every operation of the contract with each kind of API key that must not call it. The contract
 * says by {@code x-scope} and {@code x-types} what the gateway has to do.
 */
class AccessMatrixTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  /** An ID of the right shape, with the right check characters and a prefix of no type. */
  static final String OF_NO_TYPE =
      switch (PublicId.parse(TestClient.UNKNOWN_ID)) {
        case ParsedId.Valid(PublicId id) -> new PublicId(new Prefix("zz"), id.token()).toString();
        case ParsedId.Malformed malformed -> throw new AssertionError(malformed);
      };

  /** Of a call that each key may make. */
  private static final String SELF = Scope.SELF.name();

  private static String publicId = "";
  private static String run = "";
  private static String apiKey = "";

  @BeforeAll
  static void charge() {
    GATEWAY.client().put(TestType.of("charge", "ch").redirect("https://shop.example/charges/{id}"));
    GATEWAY.client().put(TestType.of("user", "usr"));
    publicId = GATEWAY.client().mint("charge", "key", "1", "legacy_id", "1").text("/id");
    GATEWAY.execute("create table public.orders (id bigserial primary key)");
    run =
        GATEWAY
            .client()
            .post("/v1/table-migrations", json("table", "orders", "type", "charge"))
            .text("/id");
    apiKey =
        GATEWAY
            .client()
            .post("/v1/access/keys", json("name", "charges", "scopes", List.of("ids:read")))
            .text("/id");
  }

  /** A call as the table of all calls has it, and what the contract says about it. */
  private record Asked(Call call, ContractDocument.Operation operation) {
    String scope() {
      return operation.node().path("x-scope").stringValue();
    }

    String types() {
      return operation.node().path("x-types").stringValue();
    }

    /** With what exists: a public ID, a run, and an API key. */
    Reply existing(TestClient client) {
      return send(client, publicId, run, apiKey, "charge");
    }

    /** With what doesn't: a type, an ID of no type, a run, and an API key. */
    Reply missing(TestClient client) {
      return send(client, OF_NO_TYPE, "999", "key_000000000000", "nosuch");
    }

    private Reply send(TestClient client, String id, String runNumber, String keyId, String type) {
      String target =
          call.path()
              .replace(TestClient.UNKNOWN_ID, id)
              .replace("table-migrations/7", "table-migrations/" + runNumber)
              .replace("key_000000000000", keyId)
              .replace("charge", type);
      String body =
          call.body() == null
              ? null
              : call.body()
                  .replace(TestClient.UNKNOWN_ID, id)
                  .replace("type,key\n1,1", "type,key\n" + type + ",1")
                  .replace("charge", type);
      return client
          .with("X-Original-URI", "/charges/" + id)
          .withDefault("Content-Type", call.isImport() ? "text/csv" : "application/json")
          .send(call.method(), target, body);
    }
  }

  private static List<Asked> secured() {
    return EveryOperationTest.CALLS.stream()
        .map(call -> new Asked(call, operation(call)))
        .filter(asked -> !asked.operation().node().has("security"))
        .toList();
  }

  private static ContractDocument.Operation operation(Call call) {
    String path = call.path().split("\\?", 2)[0];
    return ContractDocument.read().operations().stream()
        .filter(operation -> operation.method().toUpperCase(Locale.ROOT).equals(call.method()))
        .filter(operation -> pattern(operation.path()).matcher(path).matches())
        .max(
            Comparator.comparingInt(
                operation -> operation.path().replaceAll("\\{.*?}", "").length()))
        .orElseThrow();
  }

  private static Pattern pattern(String path) {
    return Pattern.compile(path.replace("{uri}", ".+").replaceAll("\\{[^}]+}", "[^/]+"));
  }

  @Test
  void everySecuredOperationSaysItsScopeAndWhatAKeyForSomeTypesGetsAndIsCalledHere() {
    List<ContractDocument.Operation> all =
        ContractDocument.read().operations().stream()
            .filter(operation -> !operation.node().has("security"))
            .toList();

    assertThat(all)
        .allSatisfy(
            operation -> {
              String scope = operation.node().path("x-scope").asString("");
              assertThat(scope.equals(SELF) || Scope.named(scope).isPresent())
                  .as(operation.id())
                  .isTrue();
              assertThat(operation.node().path("x-types").asString(""))
                  .as(operation.id())
                  .isIn("named", "items", "filtered", "rights", "refused", "any");
            });
    assertThat(secured().stream().map(asked -> asked.operation().id()))
        .containsAll(all.stream().map(ContractDocument.Operation::id).toList());
  }

  @Test
  void everyCallIsRefusedWithoutAKeyAndWithEveryScopeButItsOwn() {
    Map<String, TestClient> without = new HashMap<>();
    for (Asked asked : secured()) {
      TestClient others =
          without.computeIfAbsent(
              asked.scope(),
              needed ->
                  GATEWAY.clientWith(
                      Scope.KNOWN.stream()
                          .filter(scope -> !scope.equals(Scope.ALL))
                          .filter(scope -> !scope.name().equals(needed))
                          .collect(Collectors.toSet())));

      assertThat(asked.existing(GATEWAY.client().anonymous()).status())
          .as("%s", asked)
          .isEqualTo(401);
      if (!asked.scope().equals(SELF)) {
        assertProblem(asked.existing(others), "403 forbidden");
      }
    }
  }

  @Test
  void theScopeOfTheContractIsEnough() {
    Map<String, TestClient> with = new HashMap<>();
    for (Asked asked : secured()) {
      TestClient client =
          with.computeIfAbsent(asked.scope(), needed -> GATEWAY.clientWith(new Scope(needed)));

      Reply reply = asked.missing(client);
      assertThat(reply.status()).as("%s", asked).isNotEqualTo(401);
      assertThat(reply.status() == 403 && reply.text("/code").equals("forbidden"))
          .as("%s", asked)
          .isFalse();
    }
  }

  @Test
  void aKeyIsRefusedEverywhereFromAnAddressOutsideItsRanges() {
    TestClient key =
        GATEWAY.clientWith(Set.of(Scope.ALL), "ranges = '{192.0.2.0/24,2001:db8::/32}'");
    for (Asked asked : secured()) {
      assertProblem(
          asked.existing(key.with("X-Forwarded-For", "203.0.113.9")), "403 address_not_allowed");
    }
    for (String inside : List.of("192.0.2.7", "2001:db8:1::7", "203.0.113.9, 192.0.2.8")) {
      assertThat(key.with("X-Forwarded-For", inside).get("/v1/types").status()).isEqualTo(200);
    }
    assertProblem(key.get("/v1/types"), "403 address_not_allowed"); // the proxy itself
    assertProblem(
        key.with("X-Forwarded-For", "192.0.2.7, 203.0.113.9").get("/v1/types"),
        "403 address_not_allowed");
  }

  @Test
  void anAddressThatNoTrustedProxyForwardsDoesNotCount() {
    try (GatewayFixture open = GatewayFixture.own()) {
      TestClient elsewhere = open.clientWith(Set.of(Scope.ALL), "ranges = '{192.0.2.0/24}'");
      TestClient here = open.clientWith(Set.of(Scope.ALL), "ranges = '{127.0.0.0/8}'");

      assertProblem(
          elsewhere.with("X-Forwarded-For", "192.0.2.7").get("/v1/types"),
          "403 address_not_allowed");
      assertThat(here.with("X-Forwarded-For", "192.0.2.7").get("/v1/types").status())
          .isEqualTo(200);
    }
  }

  /** Twice each: the second time the key is cached, and some calls are answered on another way. */
  @Test
  void aKeyForOtherTypesGetsWhatTheContractSaysAndTheSameForWhatDoesNotExist() {
    TestClient key = GATEWAY.clientWith(Set.of(Scope.ALL), "types = '{user}'");
    for (Asked asked : secured()) {
      for (int time = 1; time <= 2; time++) {
        Reply foreign = asked.existing(key);
        Reply missing = asked.missing(key);
        switch (asked.types()) {
          case "named" -> {
            refused(asked, foreign);
            assertThat(withoutRequest(missing)).as("%s", asked).isEqualTo(withoutRequest(foreign));
          }
          case "items" -> {
            refusedItem(asked, foreign);
            assertThat(withoutRequest(missing)).as("%s", asked).isEqualTo(withoutRequest(foreign));
          }
          case "filtered" -> {
            assertThat(foreign.status()).as("%s", asked).isEqualTo(200);
            assertThat(foreign.body().toString()).as("%s", asked).doesNotContain("\"charge\"");
          }
          case "rights" -> assertProblem(foreign, "403 rights_exceeded types");
          case "refused" -> refused(asked, foreign);
          default ->
              assertThat(foreign.status())
                  .as("%s", asked)
                  .isEqualTo(asked.existing(GATEWAY.client()).status());
        }
      }
    }
  }

  private static void refused(Asked asked, Reply reply) {
    if (asked.operation().id().equals("authRequest")) {
      // For nginx the answer to its client is in headers.
      assertThat(reply.header("x-coatcheck-status")).isEqualTo("403");
      assertThat(reply.header("x-coatcheck-problem")).contains("type_not_allowed");
    } else {
      assertThat(reply.status() + " " + reply.text("/code", null))
          .as("%s", asked)
          .isEqualTo("403 type_not_allowed");
    }
  }

  private static void refusedItem(Asked asked, Reply reply) {
    if (reply.status() == 403) {
      refused(asked, reply); // a batch by count names one type
    } else if (asked.call().isImport()) {
      assertThat(reply.text("/errors/0/code")).isEqualTo("type_not_allowed");
      assertThat(reply.body().path("created").asInt()).isZero();
    } else {
      assertThat(reply.text("/data/0/error/code")).as("%s", asked).isEqualTo("type_not_allowed");
      assertThat(reply.body().at("/data/0/status").asInt()).isEqualTo(403);
    }
  }

  /** What a caller sees, but for the ID of the request. */
  private static String withoutRequest(Reply reply) {
    return reply.status()
        + reply.body().toString().replaceAll("\"request_id\":\"[^\"]*\"", "")
        + String.valueOf(reply.headers().get("x-coatcheck-problem"))
            .replaceAll("\"request_id\":\"[^\"]*\"", "");
  }
}
