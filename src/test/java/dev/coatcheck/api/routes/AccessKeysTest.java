package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** API keys over HTTP: {@code /v1/access}. */
class AccessKeysTest {
  private static final String KEYS = "/v1/access/keys";

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final TestClient ROOT = GATEWAY.client();

  @BeforeAll
  static void types() {
    ROOT.put(TestType.of("charge", "ch"));
  }

  @Test
  void aKeyIsCreatedReadChangedAndRevoked() {
    Reply created =
        ROOT.post(
            KEYS,
            json(
                "name",
                "edge",
                "scopes",
                List.of("ids:read", "types:read"),
                "types",
                List.of("charge"),
                "ranges",
                List.of("127.0.0.0/8", "2001:db8::/32"),
                "limit",
                Map.of("requests", 1_000, "seconds", 1),
                "expires_at",
                "2999-01-01T01:00:00+01:00"));
    assertThat(created.status()).isEqualTo(201);
    assertThat(created.header("cache-control")).isEqualTo("no-store");
    assertThat(created.header("etag")).isEqualTo("\"1\"");
    assertThat(created.text("/secret")).startsWith("ccg_live_" + created.text("/id").substring(4));
    assertThat(created.text("/expires_at")).isEqualTo("2999-01-01T00:00:00Z");
    assertThat(created.text("/principal")).startsWith("edge");
    assertThat(created.text("/made_by")).isEqualTo("key_" + GATEWAY.key().substring(9, 21));
    TestClient edge = client(created);
    String one = one(created);

    Reply read = ROOT.get(one);
    assertThat(read.status()).isEqualTo(200);
    assertThat(read.body().has("secret")).isFalse();
    assertThat(read.text("/scopes/0")).isEqualTo("ids:read");
    assertThat(edge.get("/v1/access/self").text("/id")).isEqualTo(created.text("/id"));

    Reply patched =
        ROOT.with("If-Match", "\"1\"")
            .patch(one, json("name", "proxy", "limit", Map.of("seconds", 10), "ranges", null));
    assertThat(patched.status()).isEqualTo(200);
    assertThat(patched.header("etag")).isEqualTo("\"2\"");
    assertThat(patched.body().at("/limit/requests").intValue()).isEqualTo(1_000);
    assertThat(patched.body().at("/limit/seconds").intValue()).isEqualTo(10);
    assertThat(patched.body().at("/ranges").isNull()).isTrue();
    assertThat(patched.text("/types/0")).isEqualTo("charge");
    assertThat(ROOT.patch(one, json("name", "proxy")).header("etag"))
        .as("nothing differs")
        .isEqualTo("\"2\"");
    assertProblem(
        ROOT.with("If-Match", "\"1\"").patch(one, json("name", "late")),
        "412 precondition_failed If-Match");
    assertProblem(
        ROOT.hostile().with("If-Match", "1").patch(one, json("name", "late")),
        "400 header_invalid If-Match");

    Reply revoked = ROOT.post(one + "/revoke", "{}");
    assertThat(revoked.text("/status")).isEqualTo("revoked");
    assertThat(ROOT.send("POST", one + "/revoke", null).body())
        .as("for good, and the same again")
        .isEqualTo(revoked.body());
    assertThat(edge.get("/v1/access/self").status()).as("at once, here").isEqualTo(401);
    assertProblem(ROOT.patch(one, json("name", "x")), "409 api_key_ended id");
    assertProblem(ROOT.post(one + "/rotate", json("overlap_seconds", 0)), "409 api_key_ended id");
    assertThat(audited(created)).containsExactly("key.create", "key.patch", "key.revoke");
  }

  @Test
  void theSecretIsNowhereInTheDatabase() {
    String secret = created("scopes", List.of("ids:read")).text("/secret");
    assertThat(
            GATEWAY.count(
                "select count(*) from (select k::text as row from coatcheck.api_key k union all"
                    + " select a::text from coatcheck.audit_entry a) all_rows where row like '%"
                    + secret.substring(22)
                    + "%'"))
        .isZero();
  }

  @Test
  void badFieldsAreRefused() {
    for (String[] bad :
        new String[][] {
          {"{}", "400 field_missing name"},
          {"{\"name\":\"a\"}", "400 field_missing scopes"},
          {json("name", " ", "scopes", List.of("ids:read")), "400 field_invalid name"},
          {json("name", "a".repeat(101), "scopes", List.of("*")), "400 field_invalid name"},
          {body("principal", ""), "400 field_invalid principal"},
          {body("scopes", List.of()), "400 field_invalid scopes"},
          {body("scopes", null), "400 field_invalid scopes"},
          {body("scopes", List.of("ids:read", "ids:raed")), "400 field_invalid scopes[1]"},
          {body("scopes", List.of("self")), "400 field_invalid scopes[0]"},
          {body("scopes", List.of("IDS:READ")), "400 field_invalid scopes[0]"},
          {body("types", List.of()), "400 field_invalid types"},
          {body("types", "charge"), "400 field_invalid types"},
          {body("types", List.of(1)), "400 field_invalid types[0]"},
          {body("types", List.of("charge", "none")), "404 type_unknown types"},
          {body("types", List.of("")), "404 type_unknown types"},
          {body("ranges", List.of()), "400 field_invalid ranges"},
          {body("ranges", List.of("10.0.0.0/8", "10.1.2.3/8")), "400 field_invalid ranges[1]"},
          {body("ranges", List.of("10.0.0.0/33")), "400 field_invalid ranges[0]"},
          {body("ranges", List.of("10.0.0.0/")), "400 field_invalid ranges[0]"},
          {body("ranges", List.of("300.0.0.0/8")), "400 field_invalid ranges[0]"},
          {body("ranges", List.of("localhost")), "400 field_invalid ranges[0]"},
          {body("ranges", List.of("fe80::1%eth0")), "400 field_invalid ranges[0]"},
          {body("limit", 5), "400 field_invalid limit"},
          {body("limit", Map.of("requests", 5)), "400 field_missing limit.seconds"},
          {body("limit", Map.of("requests", 0, "seconds", 1)), "400 field_invalid limit.requests"},
          {
            body("limit", Map.of("requests", 1, "seconds", 3_601)),
            "400 field_invalid limit.seconds"
          },
          {body("expires_at", "tomorrow"), "400 field_invalid expires_at"},
          {body("expires_at", "2020-01-01T00:00:00Z"), "400 field_invalid expires_at"},
          {body("expires_at", 1), "400 field_invalid expires_at"},
          {body("secret", "x"), "400 field_unknown secret"},
        }) {
      assertProblem(ROOT.hostile().post(KEYS, bad[0]), bad[1]);
    }
    String one = one(created("scopes", List.of("ids:read")));
    for (String[] bad :
        new String[][] {
          {json("principal", "root"), "400 field_unknown principal"},
          {json("name", null), "400 field_missing name"},
          {json("scopes", null), "400 field_missing scopes"},
          {json("scopes", List.of()), "400 field_invalid scopes"},
          {json("types", List.of("none")), "404 type_unknown types"},
          {json("limit", Map.of("requests", 5)), "400 field_missing limit.seconds"},
          {json("expires_at", "2020-01-01T00:00:00Z"), "400 field_invalid expires_at"},
        }) {
      assertProblem(ROOT.hostile().patch(one, bad[0]), bad[1]);
    }
    for (String[] bad :
        new String[][] {
          {"{}", "400 field_missing overlap_seconds"},
          {json("overlap_seconds", -1), "400 field_invalid overlap_seconds"},
          {json("overlap_seconds", 2_592_001), "400 field_invalid overlap_seconds"},
          {
            json("overlap_seconds", 0, "expires_at", "2020-01-01T00:00:00Z"),
            "400 field_invalid expires_at"
          },
        }) {
      assertProblem(ROOT.hostile().post(one + "/rotate", bad[0]), bad[1]);
    }
    assertProblem(
        ROOT.hostile().post(one + "/revoke?successors=end", "{}"),
        "400 parameter_invalid successors");
    assertThat(ROOT.get(one).header("etag")).as("nothing was changed").isEqualTo("\"1\"");
  }

  @Test
  void anUnknownKeyIs404() {
    for (String id : List.of("key_000000000000", "000000000000", "key_00000000000-", "x")) {
      String one = KEYS + "/" + id;
      TestClient client = ROOT.hostile();
      assertProblem(client.get(one), "404 api_key_unknown id");
      assertProblem(client.patch(one, json("name", "x")), "404 api_key_unknown id");
      assertProblem(
          client.post(one + "/rotate", json("overlap_seconds", 0)), "404 api_key_unknown id");
      assertProblem(client.post(one + "/revoke", "{}"), "404 api_key_unknown id");
    }
  }

  @Test
  void tenThousandKeysAreListedInPages() {
    GATEWAY.execute(
        """
        insert into coatcheck.api_key
          (key_id, secret_hash, name, principal, scopes, created_at, expires_at, revoked_at)
        select 'many' || lpad(n::text, 8, '0'), sha256(n::text::bytea), 'many', 'lists', '{ids:read}',
          now() - make_interval(secs => n / 3),
          case when n % 4 = 1 then now() - interval '1 day' end,
          case when n % 4 = 2 then now() end
        from generate_series(1, 10000) n\
        """);
    List<String> ids = new ArrayList<>();
    List<String> times = new ArrayList<>();
    String after = "";
    boolean hasMore = true;
    while (hasMore) {
      Reply page = ROOT.get(KEYS + "?principal=lists&limit=100" + after);
      page.body()
          .at("/data")
          .forEach(
              key -> {
                ids.add(key.path("id").stringValue());
                times.add(key.path("created_at").stringValue());
              });
      hasMore = page.body().at("/has_more").booleanValue();
      after = "&after=" + ids.getLast();
    }
    assertThat(ids).hasSize(10_000).doesNotHaveDuplicates();
    assertThat(times.stream().map(Instant::parse)).isSorted();

    for (String status : List.of("expired", "revoked")) {
      Reply some = ROOT.get(KEYS + "?principal=lists&limit=100&status=" + status);
      assertThat(some.body().at("/data"))
          .hasSize(100)
          .allSatisfy(key -> assertThat(key.path("status").stringValue()).isEqualTo(status));
    }
    assertThat(ROOT.get(KEYS + "?principal=nobody").body().at("/data")).isEmpty();
  }

  @Test
  void badPagesAreRefused() {
    TestClient client = ROOT.hostile();
    assertProblem(client.get(KEYS + "?limit=0"), "400 parameter_invalid limit");
    assertProblem(client.get(KEYS + "?limit=101"), "400 parameter_invalid limit");
    assertProblem(client.get(KEYS + "?status=ACTIVE"), "400 parameter_invalid status");
    assertProblem(client.get(KEYS + "?after=x"), "400 parameter_invalid after");
    assertProblem(client.get(KEYS + "?after=key_000000000000"), "400 parameter_invalid after");
    assertProblem(client.get(KEYS + "?name=edge"), "400 parameter_unknown name");
  }

  @Test
  void aPageAfterAKeyThatTheCallerMayNotSeeIsRefusedLikeOneAfterNoKey() {
    String hidden = created("scopes", List.of("ids:read")).text("/id");
    String shown = created("scopes", List.of("ids:read"), "types", List.of("charge")).text("/id");
    TestClient some =
        ROOT.hostile()
            .with(
                "Authorization",
                "Bearer "
                    + ROOT.post(
                            KEYS,
                            json(
                                "name",
                                "some",
                                "scopes",
                                List.of("access:admin"),
                                "types",
                                List.of("charge")))
                        .text("/secret"));

    assertThat(some.get(KEYS + "?after=" + shown).status()).isEqualTo(200);
    assertProblem(some.get(KEYS + "?after=" + hidden), "400 parameter_invalid after");
  }

  @Test
  void anIdempotencyKeyIsRefusedWhereTheAnswerHasASecret() {
    TestClient keyed = ROOT.hostile().with("Idempotency-Key", "once");
    String one = one(created("scopes", List.of("ids:read")));

    assertProblem(keyed.post(KEYS, body("name", "edge")), "400 header_invalid Idempotency-Key");
    assertProblem(
        keyed.post(one + "/rotate", json("overlap_seconds", 0)),
        "400 header_invalid Idempotency-Key");
  }

  @Test
  void aKeyMayReadRotateAndRevokeItselfWhateverItsScopes() {
    Reply created = created("scopes", List.of("metrics:read"));
    TestClient itself = client(created);
    Reply other = created("scopes", List.of("metrics:read"));

    assertThat(itself.get("/v1/access/self").text("/status")).isEqualTo("active");
    assertProblem(itself.get(one(created)), "403 forbidden");
    assertProblem(itself.get(KEYS), "403 forbidden");
    assertProblem(itself.patch(one(created), json("name", "x")), "403 forbidden");
    for (String foreign : List.of(one(other), KEYS + "/key_000000000000")) {
      assertProblem(itself.post(foreign + "/rotate", json("overlap_seconds", 0)), "403 forbidden");
      assertProblem(itself.post(foreign + "/revoke", "{}"), "403 forbidden");
    }

    Reply successor = itself.post(one(created) + "/rotate", json("overlap_seconds", 60));
    assertThat(successor.status()).isEqualTo(201);
    assertThat(successor.header("cache-control")).isEqualTo("no-store");
    assertThat(successor.text("/principal")).isEqualTo(created.text("/principal"));
    assertThat(itself.get("/v1/access/self").text("/successor"))
        .as("the overlap")
        .isEqualTo(successor.text("/id"));
    assertProblem(
        itself.post(one(created) + "/rotate", json("overlap_seconds", 60)),
        "409 api_key_rotated id");

    TestClient next = client(successor);
    assertThat(next.post(one(successor) + "/revoke", "{}").text("/status")).isEqualTo("revoked");
    assertThat(next.get("/v1/access/self").status()).isEqualTo(401);
    assertThat(itself.get("/v1/access/self").status()).isEqualTo(200);
  }

  @Test
  void ofTwoRotationsAtOnceOneWins() throws Exception {
    for (int overlap : new int[] {0, 3_600}) {
      Reply key = created("scopes", List.of("ids:read"));
      List<Future<Reply>> replies = new ArrayList<>();
      try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
        for (int i = 0; i < 2; i++) {
          replies.add(
              threads.submit(
                  () -> ROOT.post(one(key) + "/rotate", json("overlap_seconds", overlap))));
        }
      }
      List<Integer> statuses =
          List.of(replies.getFirst().get().status(), replies.getLast().get().status());
      assertThat(statuses).containsExactlyInAnyOrder(201, 409);
    }
  }

  @Test
  void aRotatedOutKeyIsRefusedAndItsSuccessorWorks() {
    Reply key = created("scopes", List.of("ids:read"), "expires_at", "2999-01-01T00:00:00Z");
    Reply successor = client(key).post(one(key) + "/rotate", json("overlap_seconds", 0));

    assertThat(client(key).get("/v1/access/self").status()).isEqualTo(401);
    assertThat(client(successor).get("/v1/access/self").text("/expires_at"))
        .isEqualTo("2999-01-01T00:00:00Z");
    assertThat(ROOT.get(one(key)).text("/status")).isEqualTo("expired");
  }

  @Test
  void leakedKeysEndWithTheirSuccessorsWhoeverAsks() {
    Reply leaked = created("scopes", List.of("ids:read"));
    Reply successor = client(leaked).post(one(leaked) + "/rotate", json("overlap_seconds", 60));
    TestClient stranger = ROOT.anonymous().with("X-Forwarded-For", "192.0.2.77");
    String call = KEYS + "/revoke-leaked";

    Reply nothing = stranger.post(call, json("keys", List.of("x")));
    Reply something = stranger.post(call, json("keys", List.of(leaked.text("/secret"))));

    assertThat(nothing.status()).isEqualTo(202);
    assertThat(something.nameless()).as("no oracle for keys").isEqualTo(nothing.nameless());
    assertThat(client(leaked).get("/v1/access/self").status()).isEqualTo(401);
    assertThat(client(successor).get("/v1/access/self").status()).isEqualTo(401);
    assertThat(ROOT.get(one(successor)).text("/status")).isEqualTo("revoked");

    for (String[] bad :
        new String[][] {
          {"{}", "400 field_missing keys"},
          {json("keys", List.of()), "400 field_invalid keys"},
          {json("keys", List.of(1)), "400 field_invalid keys[0]"},
          {json("keys", Collections.nCopies(101, "x")), "413 payload_too_large keys"},
        }) {
      assertProblem(stranger.hostile().post(call, bad[0]), bad[1]);
    }
  }

  @Test
  void anAddressMayMakeSixtyReportsAnHour() {
    TestClient stranger = ROOT.anonymous().with("X-Forwarded-For", "192.0.2.78");
    for (int i = 0; i < 60; i++) {
      assertThat(stranger.post(KEYS + "/revoke-leaked", json("keys", List.of("x"))).status())
          .isEqualTo(202);
    }
    Reply refused = stranger.post(KEYS + "/revoke-leaked", json("keys", List.of("x")));

    assertProblem(refused, "429 quota_exceeded");
    assertThat(Integer.parseInt(refused.header("retry-after"))).isBetween(1, 60);
    assertThat(
            ROOT.anonymous()
                .with("X-Forwarded-For", "192.0.2.79")
                .post(KEYS + "/revoke-leaked", json("keys", List.of("x")))
                .status())
        .isEqualTo(202);
  }

  @Test
  void aKeyWithoutTheScopeIsRefused() {
    TestClient reader = GATEWAY.clientWith(Scope.IDS_READ);
    assertProblem(reader.post(KEYS, body("name", "x")), "403 forbidden");
  }

  private static Reply created(Object... fields) {
    Reply reply = ROOT.post(KEYS, body(fields));
    assertThat(reply.status()).as("%s", reply.body()).isEqualTo(201);
    return reply;
  }

  /** A creation with other fields by name and value. */
  private static String body(@Nullable Object... fields) {
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("name", "test");
    all.put("scopes", List.of("ids:read"));
    for (int i = 0; i < fields.length; i += 2) {
      all.put(String.valueOf(fields[i]), fields[i + 1]);
    }
    List<@Nullable Object> flat = new ArrayList<>();
    all.forEach((name, value) -> Collections.addAll(flat, name, value));
    return json(flat.toArray());
  }

  private static String one(Reply key) {
    return KEYS + "/" + key.text("/id");
  }

  private static TestClient client(Reply issued) {
    return new TestClient(GATEWAY.uri(), issued.text("/secret"));
  }

  private static List<String> audited(Reply key) {
    return GATEWAY
        .sql()
        .texts(
            "select action from coatcheck.audit_entry where '%s' = any(subjects) order by number"
                .formatted(key.text("/id")));
  }
}
