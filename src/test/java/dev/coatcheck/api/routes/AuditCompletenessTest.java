package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.ContractDocument.Operation;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.core.seal.TestSealKeys;
import dev.coatcheck.ids.registry.TestType;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/**
 * Each operation that can change something leaves exactly the entries that the contract names in
 * {@code x-audit}. An operation that is new in the contract has to be here.
 */
class AuditCompletenessTest {
  private static final String FUTURE = "9000-01-31T12:00:00Z";
  private static final String MIGRATIONS = "/v1/table-migrations";

  /** What no entry may hold: a key, a legacy ID, a client ID, a namespace, a reason, a template. */
  private static final String KEY = "770077007700";

  private static final String LEGACY_ID = "880088008800";
  private static final String CLIENT_ID = "99009900-9900-4900-8900-990099009900";
  private static final String NAMESPACE = "canary-namespace";
  private static final String REASON = "canary-reason";

  @RegisterExtension
  static final GatewayFixture GATEWAY =
      GatewayFixture.own("COATCHECK_SEAL_KEYS_FILE", TestSealKeys.file().toString());

  private static final TestClient CLIENT = GATEWAY.client();
  private static final TestClient CSV = CLIENT.with("Content-Type", "text/csv");

  private static final Map<String, Operation> WRITING =
      ContractDocument.read().operations().stream()
          .filter(operation -> !Set.of("get", "head").contains(operation.method()))
          .collect(Collectors.toMap(Operation::id, Function.identity()));

  private final Set<String> seen = new TreeSet<>();

  @Test
  void everyOperationThatIsNoReadLeavesTheEntriesOfTheContract() {
    types();
    publicIds();
    keys();
    apiKeys();
    aRunThatTakesAFile();
    aRunThatIsContracted();

    assertThat(seen).containsExactlyInAnyOrderElementsOf(new TreeSet<>(WRITING.keySet()));
    assertThat(
            GATEWAY.count(
                "select count(*) from coatcheck.audit_entry where request_id is null and actor <>"
                    + " 'operator'"))
        .as("entries of callers name their request")
        .isZero();
    assertNoCanary();
  }

  private void types() {
    leaves("putType", CLIENT.put(TestType.of("charge", "ch").with("legacy", Map.of())));
    leaves("patchType", CLIENT.patch("/v1/types/charge", json("on_outage", "refuse")));
    CLIENT.put(
        TestType.of("message", "msg")
            .with(
                "sealed", Map.of("from", "2023-01-01T00:00:00Z", "seal_key", TestSealKeys.FIRST)));
    leaves("addEra", CLIENT.post("/v1/types/message/eras", json("seal_key", TestSealKeys.SECOND)));
    leaves(
        "pinKeys",
        CLIENT.post("/v1/types/message/pin", json("seal_key", TestSealKeys.FIRST, "close", true)));
  }

  private void publicIds() {
    Reply minted = CLIENT.mint("charge", "key", KEY);
    leaves("mintId", minted);
    String id = minted.text("/id");
    String path = "/v1/ids/" + id;
    leaves("mintBatch", CLIENT.post("/v1/ids/batch", json("type", "charge", "count", 4)));
    leaves("resolveBatch", CLIENT.post("/v1/ids/resolve", json("ids", List.of(id))));
    leaves(
        "lookupBatch", CLIENT.post("/v1/ids/lookup", json("type", "charge", "keys", List.of(KEY))));
    leaves(
        "resolveUrlBatch",
        CLIENT.post("/v1/urls/resolve", json("urls", List.of("/charges/" + id))));
    leaves(
        "publishUrl",
        CLIENT.post(
            "/v1/urls/publish", json("url", "/charges/" + KEY, "template", "/charges/{charge}")));
    leaves("putAlias", CLIENT.send("PUT", path + "/aliases/legacy/" + LEGACY_ID, null));
    leaves(
        "putAlias",
        CLIENT.send(
            "PUT", path + "/aliases/client/" + CLIENT_ID + "?client_namespace=" + NAMESPACE, null));
    leaves(
        "resolveLegacyBatch",
        CLIENT.post(
            "/v1/legacy/resolve", json("type", "charge", "legacy_ids", List.of(LEGACY_ID))));
    leaves("deleteAlias", CLIENT.delete(path + "/aliases/legacy/" + LEGACY_ID));
    leaves(
        "importIds", CSV.post("/v1/imports", "type,key,legacy_id\ncharge,77,9" + LEGACY_ID + "\n"));

    leaves("eraseId", CLIENT.send("POST", "/v1/ids/" + mint() + "/erase", null));
    String survivor = mint();
    leaves("mergeId", CLIENT.post("/v1/ids/" + mint() + "/merge", json("into", survivor)));
    leaves(
        "mergeBatch",
        CLIENT.post(
            "/v1/ids/merge", json("items", List.of(Map.of("id", mint(), "into", survivor)))));
    leaves("revokeId", CLIENT.post(path + "/revoke", json("reason", REASON)));
    leaves(
        "revokeBatch",
        CLIENT.post(
            "/v1/ids/revoke",
            json("items", List.of(Map.of("id", mint(), "reason", REASON), Map.of("id", mint())))));
  }

  private static String mint() {
    return CLIENT.mint("charge").text("/id");
  }

  private void apiKeys() {
    String path = "/v1/access/keys";
    Reply created = CLIENT.post(path, json("name", "audited", "scopes", List.of("ids:read")));
    leaves("createApiKey", created);
    String one = path + "/" + created.text("/id");
    leaves("patchApiKey", CLIENT.patch(one, json("name", "renamed")));
    leaves("rotateApiKey", CLIENT.post(one + "/rotate", json("overlap_seconds", 60)));
    leaves("revokeApiKey", CLIENT.post(one + "/revoke", "{}"));
    Reply leaked = CLIENT.post(path, json("name", "leaked", "scopes", List.of("ids:read")));
    leaves(
        "revokeLeakedApiKeys",
        CLIENT.post(path + "/revoke-leaked", json("keys", List.of(leaked.text("/secret")))));
  }

  private void keys() {
    leaves("makeKeys", CLIENT.post("/v1/keys", json("scheme", "snowflake", "count", 1)));
    Reply lease = CLIENT.post("/v1/leases", json("holder", "audited"));
    leaves("acquireLease", lease);
    String path = "/v1/leases/" + lease.text("/id");
    leaves(
        "renewLease",
        CLIENT.put(
            path, json("epoch", lease.body().at("/epoch").asInt(), "until", lease.text("/until"))));
    leaves("releaseLease", CLIENT.send("DELETE", path, null));
    leaves("putSegment", CLIENT.put("/v1/segments/invoice", "{}"));
    GATEWAY.execute("update coatcheck.key_fence set timeline = timeline - 1");
    leaves("liftKeyFence", CLIENT.post("/v1/keys/fence", json("advance", 5, "dated_worker", 2)));
  }

  private void aRunThatTakesAFile() {
    String run = planned("filed");
    leaves("importTableMigration", CSV.post(run + "/import", "legacy_id\n1\n2\n"));
    leaves("cancelTableMigration", CLIENT.send("POST", run + "/cancel", null));
    leaves("forgetTableMigration", CLIENT.send("POST", run + "/forget", null));
  }

  private void aRunThatIsContracted() {
    String run = planned("orders");
    leaves("setTableMigration", CLIENT.patch(run, json("batch_millis", 90)));
    leaves(
        "startTableMigration",
        CLIENT.post(
            run + "/start",
            json(
                "accept",
                CLIENT.get(run).body().at("/plan/preconditions").findValuesAsString("code"))));
    await(run, "done");
    leaves("switchTableMigration", CLIENT.post(run + "/switch", json("not_before", FUTURE)));
    leaves("pauseTableMigration", CLIENT.send("POST", run + "/pause", null));
    leaves("resumeTableMigration", CLIENT.send("POST", run + "/resume", null));
    Reply _ = CLIENT.send("POST", run + "/pause", null);
    GATEWAY.execute("update coatcheck.table_migration set state = 'failed' where state = 'paused'");
    leaves("retryTableMigration", CLIENT.send("POST", run + "/retry", null));
    leaves("undoTableMigration", CLIENT.post(run + "/undo", json("phase", "prepare_switch")));
    await(run, "done");
    leaves("verifyTableMigration", CLIENT.send("POST", run + "/verify", null));
    await(run, "done");
    leaves("switchTableMigration", CLIENT.post(run + "/switch", "{}"));
    await(run, "done");
    leaves(
        "contractTableMigration",
        CLIENT.post(
            run + "/contract", json("confirm", "public.orders", "accept", List.of("old_column"))));
    await(run, "contracted");
    leaves(
        "retireTableMigration",
        CLIENT.post(run + "/retire", json("confirm", "public.orders", "new_keys", "none")));
  }

  /** A planned run of a new table with three rows. */
  private String planned(String table) {
    CLIENT.put(TestType.of(table, table).with("legacy", Map.of()));
    GATEWAY
        .sql()
        .execute(
            "create table public.%s (id bigserial primary key)".formatted(table),
            "insert into public.%s select from generate_series(1, 3)".formatted(table));
    Reply planned = CLIENT.post(MIGRATIONS, json("table", table, "type", table));
    leaves("planTableMigration", planned);
    return MIGRATIONS + "/" + planned.text("/id");
  }

  private static void await(String run, String state) {
    Awaitility.await()
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> {
              Reply now = CLIENT.get(run);
              assertThat(now.text("/state"))
                  .as("%s", now.body().at("/reason"))
                  .isNotEqualTo("failed");
              return now.text("/state");
            },
            state::equals);
  }

  /** The operation succeeded, and its request has exactly the entries of the contract. */
  private void leaves(String operation, Reply reply) {
    assertThat(reply.status()).as("%s: %s", operation, reply.body()).isLessThan(300);
    assertThat(
            GATEWAY
                .sql()
                .texts(
                    "select action from coatcheck.audit_entry where request_id = '%s' order by number"
                        .formatted(reply.header("request-id"))))
        .as(operation)
        .isEqualTo(audited(operation));
    seen.add(operation);
  }

  private static List<String> audited(String operation) {
    JsonNode entries = requireNonNull(WRITING.get(operation)).node().path("x-audit");
    assertThat(entries.isArray()).as("x-audit of %s", operation).isTrue();
    return entries.valueStream().map(JsonNode::asString).toList();
  }

  private static void assertNoCanary() {
    String all =
        String.join(
            "\n", GATEWAY.sql().texts("select entry::text from coatcheck.audit_entry as entry"));
    Map<String, String> canaries = new HashMap<>();
    canaries.put("key", KEY);
    canaries.put("legacy ID", LEGACY_ID);
    canaries.put("client ID", CLIENT_ID);
    canaries.put("namespace", NAMESPACE);
    canaries.put("reason", REASON);
    canaries.put("API key", GATEWAY.key());
    canaries.put(
        "salt",
        String.valueOf(
            GATEWAY
                .sql()
                .text("select encode(salt, 'hex') from coatcheck.type where name = 'charge'")));
    canaries.forEach((what, text) -> assertThat(all).as(what).doesNotContain(text));
  }
}
