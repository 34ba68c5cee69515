package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.assertPut;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the keys of a type are, and who makes them. */
class KeysOfTypesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();

  private static final TestType TICKET = TestType.of("ticket", "tkt").with("generate", "none");
  private static final TestType DEVICE =
      TestType.of("device", "dev").uuids().with("generate", "none");

  @Test
  void aBigserialTypeTakesItsKeysAndGeneratesNone() {
    Reply type = CLIENT.put(TICKET);
    assertPut(type);
    assertThat(type.text("/key") + " " + type.text("/generate")).isEqualTo("bigint none");
    assertThat(type.body().at("/layout").isNull() && type.body().at("/tag").isNull()).isTrue();

    String id = CLIENT.mint("ticket", "key", "1").text("/id");

    assertThat(CLIENT.get("/v1/ids/" + id).text("/key")).isEqualTo("1");
    assertThat(CLIENT.get("/v1/types/ticket/keys/1").text("/id")).isEqualTo(id);
    assertProblem(
        CLIENT.hostile().mint("ticket", "key", UUID.randomUUID().toString()),
        "400 key_malformed key");
  }

  @Test
  void aUuidV4KeyCanBeMinted() {
    assertPut(CLIENT.put(DEVICE));
    String key = UUID.randomUUID().toString();

    String id = CLIENT.mint("device", "key", key).text("/id");

    assertThat(CLIENT.get("/v1/ids/" + id).text("/key")).isEqualTo(key);
    assertThat(CLIENT.get("/v1/ids?type=device").text("/data/0/key")).isEqualTo(key);
    assertProblem(CLIENT.mint("device", "key", "1"), "400 key_malformed key");
  }

  @Test
  void mintWithoutAKeyIsRefusedWhereTheTypeGeneratesNone() {
    assertPut(CLIENT.put(TICKET));
    String items =
        json(
            "items",
            List.of(
                Map.of("type", "ticket", "key", "21"), Map.of("type", "ticket", "legacy_id", "9")));

    Reply refused = CLIENT.mint("ticket");
    Reply batch = CLIENT.post("/v1/ids/batch", items);

    assertProblem(refused, "422 key_required key");
    assertThat(refused.text("/detail")).contains("Send the key");
    assertProblem(
        CLIENT.post("/v1/ids/batch", json("type", "ticket", "count", 2)), "422 key_required type");
    assertThat(batch.body().at("/data/0/public_id/key").stringValue()).isEqualTo("21");
    assertThat(batch.text("/data/1/error/code")).isEqualTo("key_required");
    assertThat(batch.text("/data/1/error/param")).isEqualTo("items[1].key");
  }

  @Test
  void anImportRefusesRowsWithoutAKeyWhereTheTypeGeneratesNone() {
    assertPut(CLIENT.put(TICKET));

    Reply imported =
        CLIENT
            .with("Content-Type", "text/csv")
            .post("/v1/imports", "type,key,legacy_id\nticket,31,131\nticket,,132\n");

    assertThat(imported.body().at("/refused").intValue()).isEqualTo(1);
    assertThat(imported.text("/errors/0/code")).isEqualTo("key_required");
    assertThat(CLIENT.get("/v1/types/ticket/aliases/legacy/131").text("/public_id/key"))
        .isEqualTo("31");
  }

  @Test
  void mintsTakeEachNumberOfTheSegmentOnce() throws Exception {
    CLIENT.put("/v1/segments/bills", json("start", "500", "step_min", 10, "step_max", 10));
    Reply type =
        CLIENT.put(TestType.of("bill", "bill").with("generate", "segment").with("tag", "bills"));
    assertPut(type);
    assertThat(type.text("/tag")).isEqualTo("bills");

    List<String> keys = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Reply>> mints = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        String legacyId = String.valueOf(i + 1);
        mints.add(threads.submit(() -> CLIENT.mint("bill")));
        mints.add(threads.submit(() -> CLIENT.mint("bill", "legacy_id", legacyId)));
      }
      for (Future<Reply> mint : mints) {
        keys.add(mint.get().text("/key"));
      }
    }
    Reply batch = CLIENT.post("/v1/ids/batch", json("type", "bill", "count", 100));
    batch.body().at("/data").forEach(item -> keys.add(item.at("/public_id/key").stringValue()));
    Reply drawn = CLIENT.post("/v1/keys", json("scheme", "segment", "tag", "bills", "count", 10));
    drawn.body().at("/keys").forEach(key -> keys.add(key.stringValue()));

    assertThat(keys).hasSize(150).doesNotHaveDuplicates();
    assertThat(keys).allSatisfy(key -> assertThat(Long.parseLong(key)).isGreaterThanOrEqualTo(500));
    assertThat(CLIENT.mint("bill", "key", "7").status()).as("a key of the caller's").isIn(200, 201);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"key":"uuid","generate":"snowflake"}                     | 422 key_generation_refused generate
          {"key":"uuid","generate":"segment","tag":"bills"}         | 422 key_generation_refused generate
          {"key":"bigint","generate":"uuidv7"}                      | 422 key_generation_refused generate
          {"key":"bigint","generate":"none","layout":"twitter"}     | 422 key_generation_refused layout
          {"key":"uuid","layout":"default"}                         | 422 key_generation_refused layout
          {"key":"bigint","tag":"bills"}                            | 422 key_generation_refused tag
          {"key":"bigint","generate":"segment","tag":"nothing"}     | 422 key_generation_refused tag
          {"key":"bigint","generate":"segment","tag":"\\u0000"}     | 400 json_malformed
          {"key":"bigint","generate":"segment","tag":7}             | 400 field_invalid tag
          {"key":"bigint","generate":"segment"}                     | 400 field_missing tag
          {"key":"bigint","generate":"auto"}                        | 400 field_invalid generate
          {"key":"text"}                                            | 400 field_invalid key
          {"generate":"none"}                                       | 400 field_missing key
          """)
  void keysThatCannotBeMadeInThisWayAreRefused(String fields, String problem) {
    String body = "{\"prefix\":\"wrong\"," + fields.substring(1);

    assertProblem(CLIENT.hostile().put("/v1/types/wrong", body), problem);
    assertThat(CLIENT.get("/v1/types/wrong").status()).isEqualTo(404);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {"key":"uuid"}                              | key
          {"generate":"none"}                         | generate
          {"generate":"segment","tag":"fixed_keys"}   | generate
          {"layout":"twitter"}                        | layout
          """)
  void whatKeysAreAndWhoMakesThemNeverChanges(String fields, String param) {
    CLIENT.put("/v1/segments/fixed_keys", "{}");
    TestType type = TestType.of("fixed", "fix");
    assertPut(CLIENT.put(type));

    assertProblem(CLIENT.put(type.and(fields)), "409 immutable_field " + param);
    assertThat(CLIENT.put(type.and("{\"generate\":\"snowflake\",\"tag\":null}")).status())
        .isEqualTo(200);
  }

  @Test
  void keysWithoutATimeHaveNoBounds() {
    assertPut(CLIENT.put(TICKET));

    assertProblem(
        CLIENT.get("/v1/keys/bounds?type=ticket&from=2026-01-01T00:00:00Z"),
        "400 parameter_invalid type");
    assertProblem(
        CLIENT.get("/v1/ids?type=ticket&created_after=2026-01-01T00:00:00Z"),
        "400 parameter_invalid created_after");
  }
}
