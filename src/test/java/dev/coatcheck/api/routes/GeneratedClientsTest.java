package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.RecordingProxy.Exchange;
import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.core.seal.TestSealKeys;
import dev.coatcheck.ids.registry.TestType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

/** Clients that a generator makes from the contract work for every operation, and lose nothing. */
@Tag("clients")
@Timeout(600)
class GeneratedClientsTest {
  /**
   * These succeed. IDs are public IDs of the type charge, each with a key of the same number; SLOW,
   * DONE and FILE are runs.
   */
  private static final String TABLE =
      """
      listTypes
      getType name=charge
      putType name=order | {"prefix":"ord","key":"bigint","legacy":{},"url_templates":["/orders/{legacy:order}"]}
      patchType name=order confirm=links | {"legacy":null,"url_templates":null,"on_outage":"refuse"}
      addEra name=message | {"seal_key":"SEAL"}
      pinKeys name=message | {"seal_key":"SEAL","close":true}
      lookupKey type=charge key=1
      putAlias id=ID1 scheme=legacy value=11
      lookupAlias type=charge scheme=legacy value=11
      listAliases id=ID1
      listIds type=charge limit=2
      mintId Idempotency-Key="once" | {"type":"charge","legacy_id":"12"}
      mintBatch | {"items":[{"type":"charge","key":"900"},{"type":"charge","key":"x"}]}
      resolveBatch | {"ids":["ID1","ch_x","UNKNOWN"]}
      lookupBatch | {"type":"charge","keys":["1","999"]}
      resolveId id=ID1
      revokeId id=ID2 | {"reason":"leaked"}
      mergeId id=ID3 | {"into":"ID1"}
      eraseId id=ID2
      getErasure id=ID2
      revokeBatch | {"items":[{"id":"ID4"},{"id":"UNKNOWN"}]}
      mergeBatch | {"items":[{"id":"ID5","into":"ID1"}]}
      resolveUrl url=/v1/charges/ID1
      resolveUrlBatch | {"urls":["/v1/charges/ID1","/v1/charges/UNKNOWN"]}
      publishUrl | {"url":"/charges/1","template":"/charges/{charge}"}
      authRequest X-Original-URI=/v1/charges/ID1 X-Coatcheck-Bare-Keys=refuse
      extAuthz uri=ID1 X-Coatcheck-Legacy=resolve
      makeKeys | {"scheme":"snowflake","count":3}
      acquireLease | {"holder":"shop-1"}
      getKeyBounds layout=default from=2026-01-01T00:00:00Z to=2026-01-01T00:01:00Z bucket_millis=30000
      liftKeyFence | {"advance":0}
      putSegment tag=invoice | {"bits":32}
      listSegments
      listWorkers
      listChanges
      inspect text=01ARZ3NDEKTSV4RRFFQ69G5FAV
      importIds | type,key / charge,700 / nothing,701
      exportIds type=charge format=ndjson include_ended=true
      planTableMigration | {"table":"planned","type":"planned"}
      listTableMigrations
      getTableMigration id=DONE
      setTableMigration id=SLOW | {"rows_per_second_max":10}
      startTableMigration id=SLOW | {"accept":CODES}
      pauseTableMigration id=SLOW
      resumeTableMigration id=SLOW
      listTableMigrationEvents id=SLOW
      cancelTableMigration id=SLOW
      verifyTableMigration id=DONE
      importTableMigration id=FILE | legacy_id / 1 / 2 / 3
      redirect id=ID1
      headRedirect id=ID1
      findLegacy type=charge n=11
      resolveLegacyBatch | {"type":"charge","legacy_ids":["11","999"]}
      followLegacy type=charge n=11
      headLegacy type=charge n=11
      listLegacyHits name=charge
      listLegacyCallers name=charge
      live
      ready
      metrics
      contract
      docs
      errorDocs
      docsAsset file=docs.css
      renewLease id=HELD | {"epoch":EPOCH,"until":"MARK"}
      releaseLease id=HELD
      deleteAlias id=ID1 scheme=legacy value=11
      """;

  private static final JsonMapper JSON = new JsonMapper();

  @ParameterizedTest
  @ValueSource(strings = {"java", "typescript"})
  void everyCallIsMadeAndLosesNothing(String language) throws IOException {
    GeneratedClient client = GeneratedClient.in(language);
    try (GatewayFixture gateway =
            GatewayFixture.own("COATCHECK_SEAL_KEYS_FILE", TestSealKeys.file().toString());
        RecordingProxy proxy = new RecordingProxy(gateway.uri())) {
      Map<String, String> values = prepared(gateway);
      String table = Placeholders.fill(TABLE, values);
      List<ClientCall> calls = ClientCall.all(table, values.getOrDefault("DONE", ""));
      Path file = Files.writeString(client.folder().resolve("calls.json"), ClientCall.json(calls));

      List<String> results =
          client
              .output(
                  client.everyCall(),
                  proxy.uri().toString(),
                  gateway.key(),
                  file.toString(),
                  client.javaApis().toString())
              .lines()
              .toList();

      assertThat(results).hasSameSizeAs(calls);
      assertThat(proxy.exchanges()).hasSameSizeAs(calls);
      Contract contract = Contract.withoutMemory();
      for (int i = 0; i < calls.size(); i++) {
        Exchange exchange = proxy.exchanges().get(i);
        contract.check(exchange.sent(), exchange.answer());
        if (i < table.lines().count()) {
          assertThat(exchange.answer().status()).as("%s", exchange).isLessThan(400);
        }
        assertThat(plain(JSON.readTree(results.get(i)).path("value")))
            .as("what the client read of %s", exchange)
            .isEqualTo(plain(content(exchange.answer())));
      }
      Set<Contract.Outcome> seen = contract.documented();
      seen.removeAll(contract.unexercised());
      assertThat(seen.stream().map(Contract.Outcome::operationId))
          .containsAll(
              ContractDocument.read().operations().stream()
                  .map(ContractDocument.Operation::id)
                  .toList());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"java", "typescript"})
  void aProgramCountsTenThousandPublicIds(String language) {
    GeneratedClient client = GeneratedClient.in(language);
    try (GatewayFixture gateway = GatewayFixture.own()) {
      gateway.client().put(TestType.of("charge", "ch"));

      assertThat(
              client.output(
                  client.tenThousand(), gateway.uri().toString(), gateway.key(), "charge"))
          .isEqualToIgnoringNewLines(
              "minted 10000, resolved 10000, looked up 10000, revoked 10000, gone 10000,"
                  + " refused key_malformed");
      assertThat(gateway.count("select count(*) from coatcheck.public_id")).isEqualTo(10_000);
    }
  }

  /** The types, public IDs and runs of the table, by their names there. */
  private static Map<String, String> prepared(GatewayFixture gateway) {
    TestClient api = gateway.client();
    api.put(
        TestType.of("charge", "ch")
            .redirect("https://shop.example/charges/{id}")
            .with("legacy", Map.of()));
    api.put(
        TestType.of("message", "msg")
            .with(
                "sealed", Map.of("from", "2023-01-01T00:00:00Z", "seal_key", TestSealKeys.FIRST)));
    Map<String, String> values = new HashMap<>();
    values.put("SEAL", TestSealKeys.SECOND);
    for (int number = 1; number <= 5; number++) {
      values.put("ID" + number, api.mint("charge", "key", String.valueOf(number)).text("/id"));
    }
    values.put("UNKNOWN", TestClient.UNKNOWN_ID);

    table(gateway, "planned", 3);
    values.put("FILE", plan(gateway, "file", 3).text("/id"));
    Reply slow = plan(gateway, "slow", 3_000);
    values.put("SLOW", slow.text("/id"));
    String accepted =
        JSON.writeValueAsString(slow.body().at("/plan/preconditions").findValuesAsString("code"));
    values.put("CODES", accepted);
    String done = plan(gateway, "done", 3).text("/id");
    values.put("DONE", done);
    api.post("/v1/table-migrations/" + done + "/start", "{\"accept\":" + accepted + "}");
    Awaitility.await()
        .until(() -> api.get("/v1/table-migrations/" + done).text("/state").equals("done"));

    Reply lease = api.post("/v1/leases", json("holder", "shop-2"));
    values.put("HELD", lease.text("/id"));
    values.put("EPOCH", lease.body().at("/epoch").asString());
    values.put("MARK", lease.text("/until"));
    gateway.execute(
        "update coatcheck.worker_lease set expires_at = now() + interval '1 day' where principal is"
            + " not null");
    return values;
  }

  private static Reply plan(GatewayFixture gateway, String table, int rows) {
    table(gateway, table, rows);
    return gateway.client().post("/v1/table-migrations", json("table", table, "type", table));
  }

  private static void table(GatewayFixture gateway, String name, int rows) {
    gateway.client().put(TestType.of(name, name).with("legacy", Map.of()));
    gateway
        .sql()
        .execute(
            "create table public.%s (id bigserial primary key)".formatted(name),
            "insert into public.%s select from generate_series(1, %d)".formatted(name, rows));
  }

  /** JSON, or another text as it is. */
  private static JsonNode content(Contract.Answer answer) {
    String type = answer.header("Content-Type");
    if (answer.body() == null || type == null) {
      return JsonNodeFactory.instance.nullNode();
    }
    return type.matches("application/(problem[+])?json.*")
        ? JSON.readTree(answer.body())
        : JsonNodeFactory.instance.stringNode(answer.body());
  }

  /**
   * A value without what differs between clients: how names are spelled, fields that are null,
   * empty lists, and what a time has below milliseconds.
   */
  private static @Nullable Object plain(JsonNode node) {
    if (node.isObject()) {
      Map<String, @Nullable Object> fields = new TreeMap<>();
      node.forEachEntry(
          (name, value) -> {
            if (!value.isNull() && !(value.isArray() && value.isEmpty())) {
              fields.put(
                  name.replaceAll("[^A-Za-z0-9]", "").toLowerCase(Locale.ROOT), plain(value));
            }
          });
      return fields;
    }
    if (node.isArray()) {
      List<@Nullable Object> items = new ArrayList<>();
      node.forEach(item -> items.add(plain(item)));
      return items;
    }
    if (node.isNumber()) {
      return node.decimalValue().stripTrailingZeros();
    }
    if (node.isString() && node.stringValue().matches("[0-9]{4}-[0-9]{2}-[0-9]{2}(T\\S+Z)?")) {
      String time = node.stringValue().length() == 10 ? "T00:00:00Z" : "";
      return Instant.parse(node.stringValue() + time).truncatedTo(ChronoUnit.MILLIS);
    }
    return node.isNull() ? null : node.asString();
  }
}
