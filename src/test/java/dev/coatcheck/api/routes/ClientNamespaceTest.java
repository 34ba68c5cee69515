package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.util.Locale;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Nobody receives the public ID of another through a client ID: types, namespaces and principals
 * keep their names apart, in files too. One namespace is called like a principal on purpose.
 */
class ClientNamespaceTest {
  private static final String ALICE = "alice";
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient ADMIN = GATEWAY.client();
  private static final TestClient AS_ALICE = GATEWAY.clientOf(ALICE, Scope.IDS_WRITE);
  private static final TestClient AS_BOB = GATEWAY.clientOf("bob", Scope.IDS_WRITE);

  @BeforeAll
  static void start() {
    type("note", "nt", null);
    type("required", "rq", "required");
    type("shared", "sh", "shared");
  }

  @Test
  void anotherPrincipalWithTheSameClientIdGetsAnotherPublicId() {
    String clientId = clientId();

    Reply alice = mint(AS_ALICE, "note", clientId, null);
    Reply bob = mint(AS_BOB, "note", clientId, null);

    assertThat(alice.status()).isEqualTo(201);
    assertThat(bob.status()).isEqualTo(201);
    assertThat(bob.text("/id")).isNotEqualTo(alice.text("/id"));
    assertThat(bob.text("/key")).isNotEqualTo(alice.text("/key"));
    assertThat(mint(AS_ALICE, "note", clientId, null).text("/id")).isEqualTo(alice.text("/id"));
    assertThat(mint(AS_BOB, "note", clientId, null).text("/id")).isEqualTo(bob.text("/id"));
  }

  @Test
  void twoUsersBehindOneServiceAreKeptApartByTheirNamespacesWhichAllWhoMayMintShare() {
    String clientId = clientId();

    Reply first = mint(AS_ALICE, "note", clientId, "user-1");
    Reply second = mint(AS_ALICE, "note", clientId, "user-2");
    Reply bob = mint(AS_BOB, "note", clientId, "user-1");

    assertThat(first.status()).isEqualTo(201);
    assertThat(second.status()).isEqualTo(201);
    assertThat(second.text("/id")).isNotEqualTo(first.text("/id"));
    assertThat(first.text("/client_id")).isEqualTo(clientId);
    assertThat(first.text("/client_namespace")).isEqualTo("user-1");
    assertThat(bob.status()).isEqualTo(200);
    assertThat(bob.body()).isEqualTo(first.body());
  }

  @ParameterizedTest
  @ValueSource(strings = {ALICE, "p:" + ALICE, "n:" + ALICE})
  void aNamespaceThatIsCalledLikeAPrincipalIsNotThatPrincipals(String namespace) {
    String clientId = clientId();
    String own = mint(AS_ALICE, "note", clientId, null).text("/id");

    Reply named = mint(AS_BOB, "note", clientId, namespace);

    assertThat(named.status()).isEqualTo(201);
    assertThat(named.text("/id")).isNotEqualTo(own);
  }

  @Test
  void aBatchKeepsNamespacesApartAndEachItemSaysWhichItIs() {
    String clientId = clientId();
    String items =
        """
        {"items":[{"type":"note","client_id":"%1$s"},
                  {"type":"note","client_id":"%1$s","client_namespace":"alice"},
                  {"type":"note","client_id":"%1$s","client_namespace":"b"},
                  {"type":"shared","client_id":"%1$s"},
                  {"type":"required","client_id":"%1$s"},
                  {"type":"note","client_id":"%1$s","client_namespace":"b"}]}
        """
            .formatted(clientId);

    Reply alice = AS_ALICE.post("/v1/ids/batch", items);
    Reply bob = AS_BOB.post("/v1/ids/batch", items);

    String[] alices = ids(alice, 0, 1, 2, 3);
    String[] bobs = ids(bob, 0, 1, 2, 3);
    assertThat(alices).doesNotHaveDuplicates();
    assertThat(bobs[0]).isNotIn((Object[]) alices);
    assertThat(bobs).endsWith(alices[1], alices[2], alices[3]);
    assertThat(alice.text("/data/4/error/code")).isEqualTo("field_missing");
    assertThat(alice.text("/data/4/error/param")).isEqualTo("items[4].client_namespace");
    assertThat(alice.text("/data/5/public_id/id")).isEqualTo(alices[2]);
    assertThat(alice.text("/data/2/public_id/client_namespace")).isEqualTo("b");
  }

  @Test
  void anIdempotencyKeyAnswersItsOwnPrincipalAndItsOwnNamespace() {
    String clientId = clientId();
    String key = "ns-" + clientId;

    Reply alice = mint(AS_ALICE.with("Idempotency-Key", key), "note", clientId, null);
    Reply bob = mint(AS_BOB.with("Idempotency-Key", key), "note", clientId, null);
    Reply again = mint(AS_ALICE.with("Idempotency-Key", key), "note", clientId, null);

    assertThat(bob.status()).isEqualTo(201);
    assertThat(bob.text("/id")).isNotEqualTo(alice.text("/id"));
    assertThat(again.body()).isEqualTo(alice.body());
    assertProblem(
        mint(AS_ALICE.with("Idempotency-Key", key), "note", clientId, ALICE),
        "422 idempotency_key_reused Idempotency-Key");
  }

  @Test
  void aTypeThatRequiresANamespaceRefusesAClientIdWithoutOne() {
    assertProblem(
        mint(AS_ALICE, "required", clientId(), null), "400 field_missing client_namespace");
    assertThat(mint(AS_ALICE, "required", clientId(), "a").status()).isEqualTo(201);
    assertThat(AS_ALICE.mint("required").status()).isEqualTo(201);
  }

  @Test
  void aSharedTypeHasOneNameForAll() {
    String clientId = clientId();

    assertThat(mint(AS_BOB, "shared", clientId, null).text("/id"))
        .isEqualTo(mint(AS_ALICE, "shared", clientId, null).text("/id"));
    assertThat(mint(AS_BOB, "shared", clientId, "n").status()).isEqualTo(201);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          "client_id":"%s","client_namespace":""
          "client_id":"%s","client_namespace":"a b"
          "client_id":"%s","client_namespace":"ü"
          "client_id":"%s","client_namespace":null
          "client_id":"%s","client_namespace":7
          "client_id":"%s","client_namespace":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
          "client_namespace":"%s"
          """)
  void aNamespaceInAnotherShapeOrWithoutAClientIdIs400(String fields) {
    assertProblem(
        AS_ALICE
            .hostile()
            .post("/v1/ids", "{\"type\":\"note\"," + fields.formatted(clientId()) + "}"),
        "400 field_invalid client_namespace");
  }

  @Test
  void aTypeKeepsItsRuleUntilACallNamesAnother() {
    TestType kept = TestType.of("kept", "kp");
    assertThat(ADMIN.put(kept).text("/client_names")).isEqualTo("principal");
    ADMIN.put(kept.with("client_names", "shared"));

    Reply silent = ADMIN.put(kept.with("on_outage", "refuse"));

    assertThat(silent.text("/client_names")).isEqualTo("shared");
    assertThat(silent.body().at("/version").intValue()).isEqualTo(3);
    assertProblem(
        ADMIN.hostile().put(kept.with("client_names", "none")), "400 field_invalid client_names");
  }

  @Test
  void anAliasIsGivenAndLookedUpInItsNamespaceOnly() {
    String clientId = clientId();
    String id = ADMIN.mint("note").text("/id");
    String other = ADMIN.mint("note").text("/id");
    String path = "/aliases/client/" + clientId;

    Reply added = ADMIN.send("PUT", "/v1/ids/" + id + path + "?client_namespace=room", null);
    assertThat(added.status()).isEqualTo(201);
    assertThat(added.text("/client_namespace")).isEqualTo("room");
    assertThat(ADMIN.send("PUT", "/v1/ids/" + id + path + "?client_namespace=room", null).status())
        .isEqualTo(200);
    assertProblem(
        ADMIN.send("PUT", "/v1/ids/" + other + path + "?client_namespace=room", null),
        "409 alias_conflict value");
    assertThat(
            ADMIN.send("PUT", "/v1/ids/" + other + path + "?client_namespace=hall", null).status())
        .isEqualTo(201);

    String find = "/v1/types/note" + path;
    assertThat(ADMIN.get(find + "?client_namespace=room").text("/public_id/id")).isEqualTo(id);
    assertThat(ADMIN.get(find + "?client_namespace=hall").text("/public_id/id")).isEqualTo(other);
    assertProblem(ADMIN.get(find + "?client_namespace=attic"), "404 alias_unknown value");
    assertProblem(ADMIN.get(find), "404 alias_unknown value");
    assertProblem(
        ADMIN.get("/v1/types/required/aliases/client/" + clientId),
        "400 parameter_invalid client_namespace");
    assertProblem(
        ADMIN.get("/v1/types/note/aliases/legacy/1?client_namespace=a"),
        "400 parameter_invalid client_namespace");
    assertProblem(
        ADMIN.hostile().get(find + "?client_namespace=a%20b"),
        "400 parameter_invalid client_namespace");
  }

  @Test
  void aPrincipalFindsItsOwnNamesAndNoOthers() {
    String clientId = clientId();
    TestClient owner = GATEWAY.clientOf("owner", Scope.ALL);
    TestClient reader = GATEWAY.clientOf("reader", Scope.ALL);
    String id = mint(owner, "note", clientId, null).text("/id");
    String find = "/v1/types/note/aliases/client/" + clientId;

    assertThat(owner.get(find).text("/public_id/id")).isEqualTo(id);
    assertProblem(reader.get(find), "404 alias_unknown value");
    assertProblem(reader.get(find + "?client_namespace=owner"), "404 alias_unknown value");
  }

  @Test
  void namesOfEndedPublicIdsAreFoundAsEnded() {
    String clientId = clientId();
    String id = mint(ADMIN, "note", clientId, "end").text("/id");
    String find = "/v1/types/note/aliases/client/" + clientId + "?client_namespace=end";
    String merged = clientId();
    String from = mint(ADMIN, "note", merged, "end").text("/id");
    String into = ADMIN.mint("note").text("/id");

    ADMIN.post("/v1/ids/" + id + "/revoke", "{}");
    ADMIN.post("/v1/ids/" + from + "/merge", json("into", into));

    assertProblem(ADMIN.get(find), "410 public_id_revoked value");
    assertProblem(mint(ADMIN, "note", clientId, "end"), "409 id_ended");
    assertThat(mint(ADMIN, "note", clientId, "begin").status()).isEqualTo(201);
    assertThat(
            ADMIN
                .get("/v1/types/note/aliases/client/" + merged + "?client_namespace=end")
                .text("/public_id/merged_into"))
        .isEqualTo(into);
  }

  @Test
  void anUpperCaseUuidIsTheSameNameAndIsKeptInLowerCase() {
    String clientId = clientId();
    String upper = clientId.toUpperCase(Locale.ROOT);

    Reply minted = mint(ADMIN, "note", upper, "phone");
    String id = minted.text("/id");
    Reply alias =
        ADMIN.send(
            "PUT", "/v1/ids/" + id + "/aliases/client/" + upper + "?client_namespace=phone", null);
    Reply found = ADMIN.get("/v1/types/note/aliases/client/" + upper + "?client_namespace=phone");

    assertThat(minted.status()).isEqualTo(201);
    assertThat(minted.text("/client_id")).isEqualTo(clientId);
    assertThat(mint(ADMIN, "note", clientId, "phone").text("/id")).isEqualTo(id);
    assertThat(alias.status()).isEqualTo(200);
    assertThat(alias.text("/value")).isEqualTo(clientId);
    assertThat(found.text("/public_id/id")).isEqualTo(id);
    assertThat(GATEWAY.count("select count(*) from coatcheck.alias where value ~ '[A-F]'"))
        .isZero();
  }

  @Test
  void importsKeepNamespacesApart() {
    String clientId = clientId();
    String own = mint(AS_ALICE, "note", clientId, null).text("/id");
    String room = mint(AS_ALICE, "note", clientId, "room").text("/id");
    String rows =
        """
        type,key,client_id,client_namespace,client_principal
        note,,%1$s,room,
        note,,%2$s,,
        note,,%2$s,alice,
        note,,%2$s,,bob
        note,,%2$s,,alice
        note,,%2$s,a b,
        note,1,,room,
        note,,,room,
        note,,x,room,
        required,,%2$s,,
        """
            .formatted(clientId, clientId.toUpperCase(Locale.ROOT));

    Reply imported = AS_BOB.with("Content-Type", "text/csv").post("/v1/imports", rows);
    Reply again = AS_BOB.with("Content-Type", "text/csv").post("/v1/imports", rows);

    // The room's is there; Bob's own and the namespace that is called like Alice are new. A client
    // that sends a file again, because it got no answer, is told that all are there.
    assertThat(imported.body().at("/refused").intValue()).isEqualTo(6);
    assertThat(
            imported.body().at("/created").intValue() + imported.body().at("/existing").intValue())
        .isEqualTo(4);
    assertThat(
            GATEWAY.count("select count(*) from coatcheck.alias where value = '" + clientId + "'"))
        .isEqualTo(4);
    assertThat(imported.body().at("/errors").findValuesAsString("code"))
        .containsExactly(
            "client_principal_refused",
            "client_namespace_malformed",
            "client_id_missing",
            "key_missing",
            "client_id_malformed",
            "client_namespace_missing");
    assertThat(again.body().at("/created").intValue()).isZero();
    assertThat(mint(AS_ALICE, "note", clientId, null).text("/id")).isEqualTo(own);
    assertThat(mint(AS_BOB, "note", clientId, "room").text("/id")).isEqualTo(room);
    assertThat(mint(AS_BOB, "note", clientId, null).text("/id")).isNotIn(own, room);
  }

  @ParameterizedTest
  @ValueSource(strings = {"csv", "ndjson"})
  void anExportHoldsEveryNameAndAnImportOfItFindsThemAll(String format) {
    String type = "export_" + format;
    type(type, "x" + format, null);
    String clientId = clientId();
    TestClient odd = GATEWAY.clientOf("Zoë, \"the\" \\ one", Scope.IDS_WRITE);
    String named = mint(AS_ALICE, type, clientId, "a\\\"b,c").text("/id");
    String own = mint(AS_ALICE, type, clientId, null).text("/id");
    String odds = mint(odd, type, clientId, null).text("/id");

    String rows = ADMIN.get("/v1/exports?type=" + type + "&format=" + format).body().stringValue();
    GATEWAY.execute("delete from coatcheck.public_id where type_id = " + number(type));
    GATEWAY.execute("delete from coatcheck.alias where type_id = " + number(type));
    String media = format.equals("csv") ? "text/csv" : "application/x-ndjson";
    Reply imported = ADMIN.with("Content-Type", media).post("/v1/imports", rows);

    assertThat(imported.body().at("/created").intValue()).isEqualTo(3);
    assertThat(mint(AS_BOB, type, clientId, "a\\\"b,c").text("/id")).isEqualTo(named);
    assertThat(mint(AS_ALICE, type, clientId, null).text("/id")).isEqualTo(own);
    assertThat(mint(odd, type, clientId, null).text("/id")).isEqualTo(odds);
    assertProblem(
        ADMIN.get("/v1/types/" + type + "/aliases/client/" + clientId), "404 alias_unknown value");
  }

  private static void type(String name, String prefix, @Nullable String clientNames) {
    TestType type = TestType.of(name, prefix);
    ADMIN.put(clientNames == null ? type : type.with("client_names", clientNames));
  }

  private static long number(String type) {
    return GATEWAY.count("select type_id from coatcheck.type where name = '" + type + "'");
  }

  private static String clientId() {
    return "a" + UUID.randomUUID().toString().substring(1);
  }

  private static Reply mint(
      TestClient client, String type, String clientId, @Nullable String namespace) {
    return namespace == null
        ? client.mint(type, "client_id", clientId)
        : client.mint(type, "client_id", clientId, "client_namespace", namespace);
  }

  private static String[] ids(Reply batch, int... items) {
    String[] ids = new String[items.length];
    for (int i = 0; i < items.length; i++) {
      ids[i] = batch.text("/data/" + items[i] + "/public_id/id");
    }
    return ids;
  }
}
