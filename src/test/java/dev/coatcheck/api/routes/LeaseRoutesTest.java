package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.access.Scope;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Leases of workers over HTTP. */
class LeaseRoutesTest {
  private static final String UNKNOWN = "/v1/leases/00000000000000000000000000000000";

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();

  /** As if every window and lease over HTTP had ended. */
  @BeforeEach
  void end() {
    GATEWAY.execute(
        """
        update coatcheck.worker_lease
           set expires_at = 'epoch', granted_until_ms = 0, rest_until_ms = null
         where principal is not null\
        """);
  }

  private static Reply acquired(TestClient client) {
    Reply lease = client.post("/v1/leases", json("holder", "shop-1"));
    assertThat(lease.status()).as("%s", lease).isEqualTo(201);
    return lease;
  }

  private static String path(Reply lease) {
    return "/v1/leases/" + lease.text("/id");
  }

  private static String mark(Reply lease) {
    return json("epoch", lease.body().at("/epoch").asInt(), "until", lease.text("/until"));
  }

  private static Duration window(Reply lease) {
    return Duration.between(
        Instant.parse(lease.text("/from")), Instant.parse(lease.text("/until")));
  }

  @Test
  void aLeaseIsOneWindowOfOneWorkerAndIsRenewedAndReleased() {
    Reply lease = acquired(CLIENT);
    assertThat(lease.text("/layout")).isEqualTo("default");
    assertThat(window(lease)).isEqualTo(Duration.ofSeconds(3));
    assertThat(lease.header("Cache-Control")).isEqualTo("no-store");

    Reply renewed = CLIENT.put(path(lease), mark(lease));
    assertThat(renewed.status()).isEqualTo(200);
    assertThat(renewed.header("Cache-Control")).isEqualTo("no-store");
    assertThat(renewed.body().at("/worker")).isEqualTo(lease.body().at("/worker"));
    assertThat(renewed.body().at("/epoch")).isEqualTo(lease.body().at("/epoch"));
    assertThat(window(renewed)).isEqualTo(Duration.ofSeconds(3));
    assertThat(renewed.body().has("id")).isFalse();

    assertThat(CLIENT.delete(path(lease)).status()).isEqualTo(204);
    assertThat(CLIENT.delete(path(lease)).status()).as("again").isEqualTo(204);
    assertProblem(CLIENT.put(path(lease), mark(renewed)), "409 lease_stale");
  }

  @Test
  void twoProcessesWithOneHolderNameGetTwoWorkers() {
    Set<String> workers = new HashSet<>();
    for (int i = 0; i < 5; i++) {
      assertThat(workers.add(acquired(CLIENT).body().at("/worker").asString())).isTrue();
    }
  }

  /** Of a machine and a copy of its memory one goes on. */
  @Test
  void ofTwoRenewalsWithOneMarkTheSecondIsStale() {
    Reply lease = acquired(CLIENT);
    GATEWAY.execute(
        "update coatcheck.worker_lease set granted_until_ms = granted_until_ms - 1000"
            + " where principal is not null and expires_at > now()");
    assertThat(CLIENT.put(path(lease), mark(lease)).status()).isEqualTo(200);
    GATEWAY.execute(
        "update coatcheck.worker_lease set granted_until_ms = granted_until_ms + 1"
            + " where principal is not null and expires_at > now()");
    assertProblem(CLIENT.put(path(lease), mark(lease)), "409 lease_stale");
  }

  @Test
  void aMarkOfTheFarFutureIsStaleAndEndsNoWorker() {
    Reply lease = acquired(CLIENT);
    int epoch = lease.body().at("/epoch").asInt();
    String far = json("epoch", epoch, "until", Instant.now().plusSeconds(100).toString());
    assertProblem(CLIENT.put(path(lease), far), "409 lease_stale");
    assertThat(CLIENT.put(path(lease), mark(lease)).status()).isEqualTo(200);
  }

  @Test
  void aLeaseThatExpiredIsStaleAndOneWhoseWorkerHasAnotherHolderUnknown() {
    Reply lease = acquired(CLIENT);
    GATEWAY.execute(
        "update coatcheck.worker_lease set expires_at = now() where principal is not null");
    assertProblem(CLIENT.put(path(lease), mark(lease)), "409 lease_stale");
    GATEWAY.execute(
        "update coatcheck.worker_lease set lease_hash = null, principal = null"
            + " where principal is not null");
    assertProblem(CLIENT.put(path(lease), mark(lease)), "404 lease_unknown id");
    assertProblem(CLIENT.delete(path(lease)), "404 lease_unknown id");
  }

  @Test
  void theLeaseOfAStrangerLooksLikeNone() {
    Reply lease = acquired(CLIENT);
    TestClient stranger = GATEWAY.clientOf("stranger", Scope.KEYS_WRITE);
    for (String any : List.of(path(lease), UNKNOWN)) {
      assertProblem(stranger.put(any, mark(lease)), "404 lease_unknown id");
      assertProblem(stranger.delete(any), "404 lease_unknown id");
    }
    assertThat(CLIENT.put(path(lease), mark(lease)).status()).isEqualTo(200);
  }

  @Test
  void theIdOfALeaseIsNotInTheDatabase() {
    String secret = acquired(CLIENT).text("/id");
    assertThat(
            GATEWAY.count(
                "select count(*) from coatcheck.worker_lease l where l::text like '%"
                    + secret
                    + "%'"))
        .isZero();
  }

  @Test
  void aPrincipalHasAsManyLeasesAsItsKeyAllowsAndARestingWorkerCounts() {
    TestClient tenant = GATEWAY.clientOf("tenant", Scope.KEYS_WRITE);
    for (int i = 1; i < 16; i++) {
      acquired(tenant);
    }
    assertThat(tenant.delete(path(acquired(tenant))).status()).isEqualTo(204);
    assertProblem(
        tenant.once().post("/v1/leases", json("holder", "shop-1")), "409 leases_exhausted");
    acquired(GATEWAY.clientOf("another tenant", Scope.KEYS_WRITE));

    TestClient two =
        GATEWAY.clientWith(Set.of(Scope.KEYS_WRITE), "lease_max = 2, principal = 'two'");
    acquired(two);
    acquired(two);
    assertProblem(two.once().post("/v1/leases", json("holder", "shop-1")), "409 leases_exhausted");
  }

  /** A row keeps the principal of its last lease, and rests after a failover whoever had it. */
  @Test
  void aRestAfterAFailoverIsNoLeaseOfThePrincipalThatHadTheWorker() {
    TestClient tenant =
        GATEWAY.clientWith(Set.of(Scope.KEYS_WRITE), "lease_max = 2, principal = 'rested'");
    acquired(tenant);
    acquired(tenant);
    end();
    GATEWAY.execute(
        """
        update coatcheck.worker_lease
           set rest_until_ms = floor(extract(epoch from clock_timestamp()) * 1000) + 60000
         where principal = 'rested'\
        """);
    acquired(tenant);
  }

  @Test
  void clientsTogetherHaveHalfOfTheRangeAtMost() {
    try (GatewayFixture gateway = GatewayFixture.own("COATCHECK_WORKERS", "0-3")) {
      TestClient one = gateway.clientOf("one", Scope.KEYS_WRITE);
      acquired(one);
      acquired(gateway.clientOf("two", Scope.KEYS_WRITE));
      Reply refused =
          one.refused("keys_unavailable", once -> once.post("/v1/leases", json("holder", "third")));
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.header("Retry-After")).isEqualTo("1");
      assertThat(
              gateway.client().post("/v1/keys", json("scheme", "snowflake", "count", 1)).status())
          .isEqualTo(200);
      Reply without =
          one.refused(
              "no_worker_range",
              once -> once.post("/v1/leases", json("holder", "shop-1", "layout", "wide-sequence")));
      assertThat(without.status()).isEqualTo(503);

      gateway.execute(
          """
          update coatcheck.worker_lease
             set lease_hash = null, principal = null,
                 rest_until_ms = floor(extract(epoch from clock_timestamp()) * 1000) + 86400000\
          """);
      Reply resting =
          one.refused("keys_unavailable", once -> once.post("/v1/leases", json("holder", "third")));
      assertThat(resting.header("Retry-After")).as("an hour at most").isEqualTo("3600");
    }
  }

  @Test
  void anIdempotencyKeyIsRefused() {
    assertProblem(
        CLIENT.with("Idempotency-Key", "\"once\"").post("/v1/leases", json("holder", "shop-1")),
        "400 header_invalid Idempotency-Key");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{'holder':''}",
        "{'holder':'two words'}",
        "{'holder':'\u00e4'}",
        "{'holder':7}",
        "{'holder':'a','layout':'none'}",
        "{'holder':'a','window':3}"
      })
  void aLeaseThatMakesNoSenseIsRefused(String body) {
    assertThat(CLIENT.hostile().post("/v1/leases", body.replace('\'', '"')).status())
        .isEqualTo(400);
  }

  @Test
  void aHolderHas64CharactersAtMost() {
    assertThat(CLIENT.post("/v1/leases", json("holder", "~".repeat(64))).status()).isEqualTo(201);
    assertThat(CLIENT.hostile().post("/v1/leases", json("holder", "~".repeat(65))).status())
        .isEqualTo(400);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{'epoch':1}",
        "{'epoch':0,'until':'2026-01-01T00:00:00Z'}",
        "{'epoch':'1','until':'2026-01-01T00:00:00Z'}",
        "{'epoch':1,'until':'soon'}",
        "{'epoch':1,'until':null}",
        "{'epoch':1,'until':'2026-01-01T00:00:00Z','more':1}"
      })
  void aRenewalThatMakesNoSenseIsRefused(String body) {
    assertThat(CLIENT.hostile().put(UNKNOWN, body.replace('\'', '"')).status()).isEqualTo(400);
  }

  @Test
  void aLeaseNeedsTheScopeAndIsForKeysOfSomeTypesToo() {
    assertThat(
            GATEWAY
                .clientWith(Scope.KEYS_READ)
                .post("/v1/leases", json("holder", "shop-1"))
                .status())
        .isEqualTo(403);
  }
}
