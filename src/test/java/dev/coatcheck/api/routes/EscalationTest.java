package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nobody gains a right by creating, changing or rotating an API key, or keeps a stolen one. */
class EscalationTest {
  private static final String KEYS = "/v1/access/keys";

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final TestClient ROOT = GATEWAY.client();

  @BeforeAll
  static void types() {
    ROOT.put(TestType.of("charge", "ch"));
    ROOT.put(TestType.of("user", "usr"));
  }

  @Test
  void anAdminOnlyKeyGainsNothingFromRootsKey() {
    TestClient admin = client(created(ROOT, scopes("access:admin")));
    Reply root = created(ROOT, scopes("*"));

    for (String scope : List.of("*", "ids:read", "audit:read")) {
      assertProblem(create(admin, scopes(scope)), "403 rights_exceeded scopes");
      assertProblem(create(admin, scopes("access:admin", scope)), "403 rights_exceeded scopes");
    }
    assertThat(create(admin, scopes("access:admin")).status()).isEqualTo(201);

    assertProblem(admin.patch(one(root), json("name", "mine")), "403 rights_exceeded scopes");
    assertProblem(
        admin.patch(one(root), json("scopes", List.of("access:admin"))),
        "403 rights_exceeded scopes");
    for (int overlap : new int[] {0, 60}) {
      assertProblem(
          admin.post(one(root) + "/rotate", json("overlap_seconds", overlap)),
          "403 rights_exceeded scopes");
    }
    assertThat(ROOT.get(one(root)).header("etag")).isEqualTo("\"1\"");

    // An end needs the scope only: nobody gains from it.
    assertThat(admin.post(one(root) + "/revoke", "{}").status()).isEqualTo(200);
  }

  @Test
  void aKeyCantAddToItself() {
    Reply key = created(ROOT, scopes("access:admin"), "expires_at", "2999-01-01T00:00:00Z");
    TestClient admin = client(key);

    assertProblem(
        admin.patch(one(key), json("scopes", List.of("*"))), "403 rights_exceeded scopes");
    assertProblem(
        admin.patch(one(key), json("expires_at", null)), "403 rights_exceeded expires_at");
    assertProblem(
        admin.post(
            one(key) + "/rotate",
            json("overlap_seconds", 60, "expires_at", "2999-01-01T00:00:01Z")),
        "403 rights_exceeded expires_at");
    assertThat(admin.patch(one(key), json("expires_at", "2998-01-01T00:00:00Z")).status())
        .isEqualTo(200);
  }

  /** A list that is left out means everything, and an empty one nothing that is meant. */
  @Test
  void eachRestrictionOfTheCallerBindsItsKeys() {
    TestClient admin =
        client(
            created(
                ROOT,
                scopes("access:admin", "ids:read"),
                "types",
                List.of("charge"),
                "ranges",
                List.of("127.0.0.0/8"),
                "limit",
                Map.of("requests", 10_000, "seconds", 1),
                "expires_at",
                "2999-01-01T00:00:00Z"));
    List<Object> same =
        List.of(
            "types",
            List.of("charge"),
            "ranges",
            List.of("127.0.0.1/32"),
            "limit",
            Map.of("requests", 10_000, "seconds", 10),
            "expires_at",
            "2998-01-01T00:00:00Z");

    Reply created = create(admin, scopes("ids:read"), same.toArray());
    assertThat(created.status()).isEqualTo(201);
    for (int i = 0; i < same.size(); i += 2) {
      List<Object> without = new ArrayList<>(same);
      Object field = without.remove(i);
      without.remove(i);
      assertProblem(
          create(admin, scopes("ids:read"), without.toArray()), "403 rights_exceeded " + field);
      assertProblem(admin.patch(one(created), json(field, null)), "403 rights_exceeded " + field);
    }
    for (String list : List.of("types", "ranges")) {
      assertProblem(
          admin.hostile().patch(one(created), json(list, List.of())), "400 field_invalid " + list);
    }
    for (Object[] more :
        new Object[][] {
          {"types", List.of("charge", "user")},
          {"types", List.of("charge", "no_such_type")},
          {"ranges", List.of("126.0.0.0/7")},
          {"ranges", List.of("127.0.0.0/8", "::1")},
          {"limit", Map.of("requests", 100_001, "seconds", 10)},
          {"expires_at", "2999-01-01T00:00:01Z"},
        }) {
      assertProblem(
          admin.hostile().patch(one(created), json(more)), "403 rights_exceeded " + more[0]);
    }
    Reply stronger = created(ROOT, scopes("ids:read"), "types", List.of("charge"));
    assertProblem(
        admin.post(one(stronger) + "/rotate", json("overlap_seconds", 0)),
        "403 rights_exceeded ranges");
    assertThat(admin.post(one(created) + "/rotate", json("overlap_seconds", 0)).status())
        .isEqualTo(201);
  }

  @Test
  void aForeignPrincipalIsRefused() {
    Reply shop = created(ROOT, scopes("ids:read"), "principal", "shop");
    TestClient admin =
        client(created(ROOT, scopes("access:admin", "ids:read"), "principal", "ops"));
    String[] read = scopes("ids:read");

    assertProblem(create(admin, read, "principal", "shop"), "403 principal_taken principal");
    ROOT.post(one(shop) + "/revoke", "{}");
    assertProblem(create(admin, read, "principal", "shop"), "403 principal_taken principal");
    assertThat(create(admin, read, "principal", "ops").text("/principal")).isEqualTo("ops");
    assertThat(create(admin, read, "principal", "fresh").text("/principal")).isEqualTo("fresh");
    assertThat(create(admin, read, "name", "shop").text("/principal")).matches("shop#.{12}");
    assertThat(create(ROOT, read, "principal", "shop").text("/principal")).isEqualTo("shop");
  }

  @Test
  void aThiefsChainOfRotationsEndsWithTheStolenKey() {
    Reply stolen = created(ROOT, scopes("ids:read"));
    List<Reply> chain = new ArrayList<>(List.of(stolen));
    for (int i = 0; i < 5; i++) {
      Reply last = chain.getLast();
      chain.add(client(last).post(one(last) + "/rotate", json("overlap_seconds", 3_600)));
    }
    Reply kept = created(ROOT, scopes("ids:read"));
    Reply successor = client(kept).post(one(kept) + "/rotate", json("overlap_seconds", 3_600));

    ROOT.post(one(stolen) + "/revoke", "{}");
    ROOT.post(one(kept) + "/revoke?successors=keep", "{}");

    for (Reply each : chain) {
      Awaitility.await().until(() -> client(each).get("/v1/access/self").status() == 401);
    }
    assertThat(client(successor).get("/v1/access/self").status()).isEqualTo(200);
    ROOT.post(one(kept) + "/revoke", "{}");
    Awaitility.await().until(() -> client(successor).get("/v1/access/self").status() == 401);
  }

  @Test
  void anAdminsKeyTakesTheSuccessorsThatItMadeOfOtherKeysWithIt() {
    Reply admin = created(ROOT, scopes("access:admin", "ids:read"));
    Reply key = created(ROOT, scopes("ids:read"));
    Reply successor = client(admin).post(one(key) + "/rotate", json("overlap_seconds", 0));
    assertThat(successor.text("/made_by")).isEqualTo(admin.text("/id"));

    ROOT.post(one(admin) + "/revoke", "{}");

    Awaitility.await().until(() -> client(successor).get("/v1/access/self").status() == 401);
  }

  private static String[] scopes(String... scopes) {
    return scopes;
  }

  private static Reply created(TestClient by, String[] scopes, Object... fields) {
    Reply reply = create(by, scopes, fields);
    assertThat(reply.status()).as("%s", reply.body()).isEqualTo(201);
    return reply;
  }

  private static Reply create(TestClient by, String[] scopes, Object... fields) {
    List<Object> all = new ArrayList<>(List.of("name", "test", "scopes", List.of(scopes)));
    Collections.addAll(all, fields);
    return by.post(KEYS, json(all.toArray()));
  }

  private static String one(Reply key) {
    return KEYS + "/" + key.text("/id");
  }

  private static TestClient client(Reply issued) {
    return new TestClient(GATEWAY.uri(), issued.text("/secret"));
  }
}
