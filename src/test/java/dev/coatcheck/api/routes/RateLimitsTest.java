package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.greenbytes.http.sfv.ListElement;
import org.greenbytes.http.sfv.Parser;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who sends too much is told so, by headers that a parser of structured fields understands. */
class RateLimitsTest {
  private static final String MALFORMED_KEY = "Bearer junk";
  private static final String UNKNOWN_LINK = "/r/" + TestClient.UNKNOWN_ID;
  private static final String ONE_ID = "/v1/ids/" + TestClient.UNKNOWN_ID;

  /** Each test has addresses of its own. */
  private static final AtomicInteger ADDRESSES = new AtomicInteger();

  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.own(
          "COATCHECK_LIMIT_KEY", "5/3600",
          "COATCHECK_LIMIT_ADDRESS", "3/3600",
          "COATCHECK_TRUSTED_PROXIES", "127.0.0.0/8");

  private static TestClient unlimited;

  /** A member of a List of Strings with parameters. */
  private record Member(String name, String parameters) {
    static List<Member> all(Reply reply, String header) {
      List<Member> members = new ArrayList<>();
      for (ListElement<?> element : new Parser(reply.headers().get(header)).parseList().get()) {
        members.add(new Member((String) element.get(), element.getParams().serialize()));
      }
      return members;
    }
  }

  @BeforeAll
  static void types() {
    unlimited = clientWithLimit(1_000_000, 1);
    unlimited.put(TestType.of("charge", "ch").redirect("https://shop.example/charges/{id}"));
  }

  @Test
  void answersSayWhatIsLeftFromHalfOfTheQuotaOn() {
    TestClient client = limited();
    for (int left = 4; left >= 0; left--) {
      Reply reply = client.get(ONE_ID);
      assertThat(reply.status()).isEqualTo(404);
      if (left > 2) {
        assertThat(reply.headers().keySet()).doesNotContain("ratelimit", "ratelimit-policy");
      } else {
        assertThat(Member.all(reply, "ratelimit-policy"))
            .containsExactly(
                new Member("key", ";q=5;w=3600"), new Member("address", ";q=3;w=3600"));
        assertThat(Member.all(reply, "ratelimit"))
            .containsExactly(new Member("key", ";r=" + left + ";t=" + (5 - left) * 720));
      }
    }
  }

  @Test
  void aKeyBeyondItsQuotaIsToldWhenToComeAgain() {
    TestClient client = limited();
    Reply reply = exhaust(client, ONE_ID, 5);

    assertProblem(reply, "429 quota_exceeded");
    assertThat(reply.body().at("/violated-policies/0").asString()).isEqualTo("key");
    String seconds = reply.header("retry-after");
    assertThat(Integer.parseInt(seconds)).isBetween(700, 720);
    assertThat(Member.all(reply, "ratelimit"))
        .containsExactly(new Member("key", ";r=0;t=" + seconds));
    assertThat(Member.all(reply, "ratelimit-policy")).hasSize(2);
    // Others are served.
    assertThat(limited().get(ONE_ID).status()).isEqualTo(404);
  }

  @Test
  void requestsCountAlikeWhicheverWayTheyAreAnswered() {
    TestClient client = limited();
    assertThat(client.get(ONE_ID).status()).isEqualTo(404);
    assertThat(client.get(ONE_ID + "?expand=aliases").status()).isEqualTo(404);
    assertThat(client.mint("charge").status()).isEqualTo(201);
    assertThat(
            client
                .put(TestType.of("charge", "ch").redirect("https://shop.example/charges/{id}"))
                .status())
        .isEqualTo(200);
    assertThat(client.post("/v1/ids/resolve", "{\"ids\":[\"x\"]}").status()).isEqualTo(200);

    for (Reply reply :
        List.of(
            client.get(ONE_ID),
            client.get("/v1/types"),
            client.mint("charge"),
            client.post("/v1/ids/resolve", "{\"ids\":[\"x\"]}"))) {
      assertProblem(reply, "429 quota_exceeded");
    }
  }

  @Test
  void aRefusedBodyCountsToo() {
    TestClient client = limited();
    exhaust(client, ONE_ID, 1);
    for (int left = 2; left >= 0; left--) {
      Reply refused = client.with("Content-Type", "text/plain").hostile().post("/v1/ids", "{}");
      assertProblem(refused, "415 unsupported_media_type");
      assertThat(refused.header("ratelimit")).startsWith("\"key\";r=" + left + ";");
    }
    assertProblem(
        client.with("Content-Type", "text/plain").hostile().post("/v1/ids", "{}"),
        "429 quota_exceeded");
  }

  @Test
  void aKeyBeyondItsQuotaIsToldSoBeforeItsBodyIsRead() throws IOException {
    String key = keyWithLimit(1, 3_600);
    assertThat(new TestClient(GATEWAY.uri(), key).get(ONE_ID).status()).isEqualTo(404);

    try (TransferSocket silent =
        TransferSocket.of(
            GATEWAY,
            List.of(
                "POST /v1/ids/batch HTTP/1.1",
                "Host: gateway",
                "Content-Type: application/json",
                "Authorization: Bearer " + key,
                "Content-Length: 1000000"))) {
      assertThat(silent.read(12)).isEqualTo("HTTP/1.1 429");
    }
  }

  @Test
  void aKeysOwnLimitCountsInsteadOfTheDefault() {
    assertProblem(exhaust(clientWithLimit(2, 3_600), ONE_ID, 2), "429 quota_exceeded");
    assertThat(exhaust(unlimited, ONE_ID, 6).status()).isEqualTo(404);
  }

  @Test
  void aChangedLimitAppliesAtOnce() {
    String key = keyWithLimit(1, 3_600);
    TestClient client = new TestClient(GATEWAY.uri(), key);
    exhaust(client, ONE_ID, 1);

    Reply changed =
        unlimited.patch(
            "/v1/access/keys/key_" + key.substring(9, 21), "{\"limit\":{\"requests\":2}}");
    assertThat(changed.status()).isEqualTo(200);
    assertThat(client.get(ONE_ID).header("ratelimit")).startsWith("\"key\";r=1;");
  }

  @Test
  void aKeyThatRotatesItselfSharesItsQuotaWithItsSuccessors() {
    TestClient first = limited();
    TestClient second = rotated(first);
    TestClient third = rotated(second);

    assertThat(third.get(ONE_ID).header("ratelimit")).startsWith("\"key\";r=0;");
    for (TestClient client : List.of(first, second, third)) {
      assertProblem(client.get(ONE_ID), "429 quota_exceeded");
    }
  }

  /** Two requests of the quota. */
  private static TestClient rotated(TestClient client) {
    String id = client.get("/v1/access/self").text("/id");
    Reply made = client.post("/v1/access/keys/" + id + "/rotate", "{\"overlap_seconds\":3600}");
    assertThat(made.status()).isEqualTo(201);
    return new TestClient(GATEWAY.uri(), made.text("/secret"));
  }

  @Test
  void eachItemOfABatchCounts() {
    TestClient client = limited();
    Reply batch = client.post("/v1/ids/resolve", "{\"ids\":[\"a\",\"b\",\"c\"]}");
    assertThat(batch.status()).isEqualTo(200);
    assertThat(batch.header("ratelimit")).startsWith("\"key\";r=2;");

    Reply refused = client.post("/v1/ids/batch", "{\"type\":\"charge\",\"count\":3}");
    assertProblem(refused, "429 quota_exceeded");
    // The request itself was counted; a repetition needs all three.
    assertThat(refused.header("ratelimit")).startsWith("\"key\";r=1;");
    assertThat(Integer.parseInt(refused.header("retry-after"))).isBetween(1_400, 1_440);
    assertProblem(
        client.post("/v1/ids/batch", "{\"type\":\"charge\",\"count\":6}"),
        "422 batch_exceeds_quota");
  }

  @Test
  void aRefusedBatchIsToldTheQuotaHoweverMuchIsLeft() {
    TestClient client = limited();
    Reply tooLarge = client.post("/v1/ids/batch", "{\"type\":\"charge\",\"count\":6}");
    assertProblem(tooLarge, "422 batch_exceeds_quota");
    assertThat(Member.all(tooLarge, "ratelimit-policy")).contains(new Member("key", ";q=5;w=3600"));

    Reply tooMany = client.post("/v1/ids/batch", "{\"type\":\"charge\",\"count\":5}");
    assertProblem(tooMany, "429 quota_exceeded");
    assertThat(tooMany.header("ratelimit")).startsWith("\"key\";r=3;");
    assertThat(Member.all(tooMany, "ratelimit-policy")).hasSize(2);
  }

  @Test
  void deadAndMalformedKeysAndNoneCountAgainstTheAddress() {
    String address = address();
    String revoked = GATEWAY.keyWith(Scope.ALL);
    GATEWAY.revokeKey(revoked);
    TestClient from = unlimited.with("X-Forwarded-For", address);

    assertThat(from.anonymous().get(ONE_ID).status()).isEqualTo(401);
    assertThat(from.with("Authorization", MALFORMED_KEY).get(ONE_ID).status()).isEqualTo(401);
    assertThat(from.with("Authorization", "Bearer " + revoked).get(ONE_ID).status()).isEqualTo(401);

    for (TestClient each :
        List.of(
            from.anonymous(),
            from.with("Authorization", MALFORMED_KEY),
            from.with("Authorization", "Bearer " + revoked))) {
      Reply reply = each.get(ONE_ID);
      assertProblem(reply, "429 quota_exceeded");
      assertThat(Member.all(reply, "ratelimit"))
          .singleElement()
          .extracting(Member::name)
          .isEqualTo("address");
      assertThat(Member.all(reply, "ratelimit-policy"))
          .containsExactly(new Member("address", ";q=3;w=3600"));
      assertProblem(each.mint("charge"), "429 quota_exceeded");
      assertProblem(each.get(UNKNOWN_LINK), "429 quota_exceeded");
    }
    // A valid key is served from there, and other addresses are.
    assertThat(from.get(ONE_ID).status()).isEqualTo(404);
    assertThat(from.anonymous().get("/health/live").status()).isEqualTo(200);
    assertThat(unlimited.anonymous().with("X-Forwarded-For", address()).get(ONE_ID).status())
        .isEqualTo(401);
  }

  @Test
  void linksCountAgainstTheAddress() {
    TestClient visitor = visitor(address());
    assertThat(visitor.get(UNKNOWN_LINK).status()).isEqualTo(404);
    assertThat(visitor.get(UNKNOWN_LINK + "?utm_source=mail").header("ratelimit"))
        .startsWith("\"address\";r=1;");
    assertThat(visitor.head("/legacy/charge/7").status()).isEqualTo(404);

    assertProblem(visitor.get(UNKNOWN_LINK), "429 quota_exceeded");
    assertProblem(visitor.get("/legacy/charge/7"), "429 quota_exceeded");
    assertThat(visitor.head(UNKNOWN_LINK).status()).isEqualTo(429);
    assertThat(visitor(address()).get(UNKNOWN_LINK).status()).isEqualTo(404);
  }

  @Test
  void ipv6AddressesCountByTheirNetworkOf64Bits() {
    for (int host = 1; host <= 3; host++) {
      assertThat(visitor("2001:db8:1:2::" + host).get(UNKNOWN_LINK).status()).isEqualTo(404);
    }
    assertProblem(visitor("2001:db8:1:2:ffff::1").get(UNKNOWN_LINK), "429 quota_exceeded");
    assertThat(visitor("2001:db8:1:3::1").get(UNKNOWN_LINK).status()).isEqualTo(404);
  }

  private static Reply exhaust(TestClient client, String path, int quota) {
    for (int request = 0; request < quota; request++) {
      assertThat(client.get(path).status()).isEqualTo(404);
    }
    return client.get(path);
  }

  private static TestClient visitor(String address) {
    return unlimited.anonymous().with("X-Forwarded-For", address);
  }

  private static String address() {
    return "192.0.2." + ADDRESSES.incrementAndGet();
  }

  /** A client whose API key has the default quota. */
  private static TestClient limited() {
    return GATEWAY.clientWith(Scope.ALL);
  }

  private static TestClient clientWithLimit(int requests, int seconds) {
    return new TestClient(GATEWAY.uri(), keyWithLimit(requests, seconds));
  }

  private static String keyWithLimit(int requests, int seconds) {
    String key = GATEWAY.keyWith(Scope.ALL);
    GATEWAY.execute(
        "update coatcheck.api_key set limit_requests = %d, limit_seconds = %d where key_id = '%s'"
            .formatted(requests, seconds, key.substring(9, 21)));
    return key;
  }
}
