package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.ClientNamespaceTest.clientId;
import static dev.coatcheck.api.routes.ClientNamespaceTest.mint;
import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Names are found in their namespace only, in files too. */
class FindByNameTest {
  private static final String ALICE = "alice";
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient ADMIN = GATEWAY.client();
  private static final TestClient AS_ALICE = GATEWAY.clientOf(ALICE, Scope.IDS_WRITE);
  private static final TestClient AS_BOB = GATEWAY.clientOf("bob", Scope.IDS_WRITE);
  private static final TestClient READS_AS_ALICE = GATEWAY.clientOf(ALICE + "-reader", Scope.ALL);

  @BeforeAll
  static void start() {
    type("note", "nt", null);
    type("required", "rq", "required");
    type("shared", "sh", "shared");
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
        409,
        "alias_conflict",
        "value");
    assertThat(
            ADMIN.send("PUT", "/v1/ids/" + other + path + "?client_namespace=hall", null).status())
        .isEqualTo(201);

    String find = "/v1/types/note" + path;
    assertThat(ADMIN.get(find + "?client_namespace=room").text("/public_id/id")).isEqualTo(id);
    assertThat(ADMIN.get(find + "?client_namespace=hall").text("/public_id/id")).isEqualTo(other);
    assertProblem(ADMIN.get(find + "?client_namespace=attic"), 404, "alias_unknown", "value");
    assertProblem(ADMIN.get(find), 404, "alias_unknown", "value");
    assertProblem(
        ADMIN.get("/v1/types/required/aliases/client/" + clientId),
        400,
        "parameter_invalid",
        "client_namespace");
    assertProblem(
        ADMIN.get("/v1/types/note/aliases/legacy/1?client_namespace=a"),
        400,
        "parameter_invalid",
        "client_namespace");
    assertProblem(
        ADMIN.hostile().get(find + "?client_namespace=a%20b"),
        400,
        "parameter_invalid",
        "client_namespace");
  }

  @Test
  void aPrincipalFindsItsOwnNamesAndNoOthers() {
    String clientId = clientId();
    TestClient owner = GATEWAY.clientOf("owner", Scope.ALL);
    String id = mint(owner, "note", clientId, null).text("/id");
    String find = "/v1/types/note/aliases/client/" + clientId;

    assertThat(owner.get(find).text("/public_id/id")).isEqualTo(id);
    assertProblem(READS_AS_ALICE.get(find), 404, "alias_unknown", "value");
    assertProblem(
        READS_AS_ALICE.get(find + "?client_namespace=owner"), 404, "alias_unknown", "value");
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

    assertProblem(ADMIN.get(find), 410, "public_id_revoked", "value");
    assertProblem(mint(ADMIN, "note", clientId, "end"), 409, "id_ended", null);
    assertThat(mint(ADMIN, "note", clientId, "begin").status()).isEqualTo(201);
    assertThat(
            ADMIN
                .get("/v1/types/note/aliases/client/" + merged + "?client_namespace=end")
                .text("/public_id/merged_into"))
        .isEqualTo(into);
  }

  @Test
  void legacyIdsAndOlderPublicIdsAreFoundInTheirSchemeOnly() {
    ADMIN.put(
        TestType.of("order", "or")
            .with("public_pattern", TestType.pattern("", "0123456789", 1, 20)));
    String id = AS_ALICE.mint("order", "legacy_id", "5").text("/id");

    assertThat(AS_BOB.mint("order", "legacy_id", "5").text("/id")).isEqualTo(id);
    assertThat(ADMIN.get("/v1/types/order/aliases/legacy/5").text("/public_id/id")).isEqualTo(id);
    assertProblem(ADMIN.get("/v1/types/order/aliases/public/5"), 404, "alias_unknown", "value");
    assertProblem(ADMIN.get("/v1/types/note/aliases/legacy/5"), 404, "alias_unknown", "value");
  }

  @Test
  void anUpperCaseUuidIsTheSameNameAndIsKeptInLowerCase() {
    String clientId = clientId();
    String upper = clientId.toUpperCase(Locale.ROOT);

    Reply minted = mint(ADMIN, "note", upper, "phone");
    String id = minted.text("/id");
    Reply batch =
        ADMIN.post(
            "/v1/ids/batch",
            json(
                "items",
                List.of(Map.of("type", "note", "client_id", upper, "client_namespace", "phone"))));
    Reply alias =
        ADMIN.send(
            "PUT", "/v1/ids/" + id + "/aliases/client/" + upper + "?client_namespace=phone", null);
    Reply found = ADMIN.get("/v1/types/note/aliases/client/" + upper + "?client_namespace=phone");

    assertThat(minted.status()).isEqualTo(201);
    assertThat(minted.text("/client_id")).isEqualTo(clientId);
    assertThat(mint(ADMIN, "note", clientId, "phone").text("/id")).isEqualTo(id);
    assertThat(batch.text("/data/0/public_id/id")).isEqualTo(id);
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

    // The room's is there; Bob's own and the namespace that is called like Alice are new.
    assertThat(imported.body().at("/created").intValue()).isEqualTo(2);
    assertThat(imported.body().at("/existing").intValue()).isEqualTo(2);
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
        ADMIN.get("/v1/types/" + type + "/aliases/client/" + clientId),
        404,
        "alias_unknown",
        "value");
  }

  private static void type(String name, String prefix, @Nullable String clientNames) {
    TestType type = TestType.of(name, prefix);
    ADMIN.put(clientNames == null ? type : type.with("client_names", clientNames));
  }

  private static long number(String type) {
    return GATEWAY.count("select type_id from coatcheck.type where name = '" + type + "'");
  }
}
