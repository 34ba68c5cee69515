package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.access.Scope;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Who changed what, over HTTP. */
class AuditRoutesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();

  private static final JsonMapper JSON = new JsonMapper();
  private static final TestClient CLIENT = GATEWAY.client();
  private static final TestClient READER = GATEWAY.clientWith(Scope.AUDIT_READ);

  @BeforeAll
  static void type() {
    CLIENT.put(TestType.of("charge", "ch").with("legacy", Map.of()));
  }

  @Test
  void anEntrySaysWhoChangedWhatFromWhereAndInWhichRequest() {
    TestClient edge = GATEWAY.clientOf("audited-edge", Scope.TYPES_WRITE);

    Reply changed =
        edge.patch(
            "/v1/types/charge",
            json(
                "on_outage",
                "refuse",
                "redirect",
                Map.of("template", "https://shop.example/{id}")));

    JsonNode entry = READER.get("/v1/audit?actor=audited-edge").body().at("/data/0");
    assertThat(entry.path("action").asString()).isEqualTo("type.put");
    assertThat(entry.path("subjects").valueStream().map(JsonNode::asString))
        .containsExactly("charge");
    assertThat(entry.path("request_id").asString()).isEqualTo(changed.header("request-id"));
    assertThat(entry.path("address").asString()).isEqualTo("127.0.0.1");
    assertThat(entry.path("key_id").asString()).matches("key_[0-9A-Za-z]{12}");
    assertThat(entry.path("detail"))
        .isEqualTo(
            JSON.readTree("{\"fields\":[\"on_outage\",\"redirect\"],\"links_confirmed\":false}"));
  }

  @Test
  void aBatchHasOneEntryThatIsFoundByEachOfItsIds() {
    List<String> ids = minted(4);

    Reply _ = CLIENT.post("/v1/ids/revoke", items("id", ids.subList(0, 2)));
    Reply _ =
        CLIENT.post(
            "/v1/ids/merge", json("items", List.of(Map.of("id", ids.get(2), "into", ids.get(3)))));

    JsonNode first = about(ids.get(0));
    assertThat(first).isEqualTo(about(ids.get(1))).hasSize(1);
    assertThat(first.at("/0/action").asString()).isEqualTo("id.revoke");
    assertThat(about(ids.get(2))).isEqualTo(about(ids.get(3))).hasSize(1);
    assertThat(about(ids.get(3)).at("/0/detail/items/0/into").asString()).isEqualTo(ids.get(3));
  }

  /** Refused, without effect, or answered from memory: such requests have no entry. */
  @Test
  void whatChangesNothingHasNoEntry() {
    List<String> ids = minted(2);
    TestClient keyed = CLIENT.with("Idempotency-Key", "revoke-" + ids.get(0));
    keyed.post("/v1/ids/%s/revoke".formatted(ids.get(0)), "{}");
    CLIENT.send("PUT", "/v1/ids/%s/aliases/legacy/90001".formatted(ids.get(1)), null);
    CLIENT.put("/v1/segments/audited", "{}");
    TestClient reader = GATEWAY.clientWith(Scope.IDS_READ).hostile();
    long entries = entries();

    keyed.post("/v1/ids/%s/revoke".formatted(ids.get(0)), "{}");
    CLIENT.post("/v1/ids/%s/revoke".formatted(ids.get(0)), "{}");
    CLIENT.post("/v1/ids/revoke", items("id", ids.subList(0, 1)));
    CLIENT.hostile().post("/v1/ids/%s/merge".formatted(ids.get(1)), json("into", ids.get(1)));
    CLIENT.post(
        "/v1/ids/revoke",
        json(
            "atomic",
            true,
            "items",
            List.of(Map.of("id", ids.get(1)), Map.of("id", TestClient.UNKNOWN_ID))));
    CLIENT.send("PUT", "/v1/ids/%s/aliases/legacy/90001".formatted(ids.get(1)), null);
    CLIENT.delete("/v1/ids/%s/aliases/legacy/90002".formatted(ids.get(1)));
    CLIENT.patch("/v1/types/charge", json("stale_seconds_max", 60));
    CLIENT.put("/v1/segments/audited", "{}");
    CLIENT.post("/v1/keys/fence", json("advance", 0));
    CLIENT.with("Content-Type", "text/csv").post("/v1/imports", "type,legacy_id\ncharge,90001\n");
    reader.post("/v1/ids/%s/revoke".formatted(ids.get(1)), "{}");

    assertThat(entries()).isEqualTo(entries);
  }

  @Test
  void pagesFollowOneAnother() {
    minted(3).forEach(id -> CLIENT.post("/v1/ids/%s/revoke".formatted(id), "{}"));

    Reply first = READER.get("/v1/audit?action=id.revoke&limit=2");
    assertThat(first.body().path("has_more").booleanValue()).isTrue();
    long last = first.body().at("/data/1/number").asLong();
    Reply second = READER.get("/v1/audit?action=id.revoke&limit=2&after=" + last);

    assertThat(second.body().at("/data/0/number").asLong()).isLessThan(last);
    assertThat(READER.get("/v1/audit?after=1").body().path("data")).isEmpty();
  }

  @Test
  void anExportHasAllEntriesOldestFirst() {
    minted(130).forEach(id -> CLIENT.post("/v1/ids/%s/revoke".formatted(id), "{}"));

    Reply exported = READER.get("/v1/audit/export");
    List<JsonNode> lines =
        exported.body().asString().lines().map(line -> JSON.readTree(line)).toList();

    assertThat(exported.header("content-type")).startsWith("application/x-ndjson");
    assertThat((long) lines.size()).isEqualTo(entries()).isGreaterThan(130);
    assertThat(lines).extracting(line -> line.path("number").asLong()).isSorted();
  }

  @Test
  void anExportThatFailsHalfWayNeverLooksLikeTheWhole() throws Exception {
    try (GatewayFixture gateway = GatewayFixture.own()) {
      gateway.execute(
          "with head as (update coatcheck.change_head set audited = audited + 200 returning"
              + " audited) insert into coatcheck.audit_entry (number, at, actor, action, subjects,"
              + " detail) select audited - 200 + n, now(), 'long', 'test.long', '{}',"
              + " jsonb_build_object('text', repeat(md5(n::text), 1000)) from head,"
              + " generate_series(1, 200) n");
      try (TransferSocket reader =
          TransferSocket.get(
              gateway, "/v1/audit/export", "Authorization: Bearer " + gateway.key())) {
        assertThat(reader.read(12)).isEqualTo("HTTP/1.1 200");

        gateway.execute("alter table coatcheck.audit_entry rename to away");

        assertThat(reader.readToEnd()).contains("test.long").doesNotEndWith("0\r\n\r\n");
      }
      // What fails before its first byte is answered.
      try (TransferSocket reader =
          TransferSocket.get(
              gateway, "/v1/audit/export", "Authorization: Bearer " + gateway.key())) {
        assertThat(reader.read(12)).isEqualTo("HTTP/1.1 500");
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          subject=,              400 parameter_invalid subject
          subject=a%00b,         400 parameter_invalid subject
          actor=%0A,             400 parameter_invalid actor
          action=put,            400 parameter_invalid action
          action=type.put%20,    400 parameter_invalid action
          from=yesterday,        400 parameter_invalid from
          to=1969-01-01T00:00:00Z, 400 parameter_invalid to
          after=-1,              400 parameter_invalid after
          after=1e3,             400 parameter_invalid after
          limit=0,               400 parameter_invalid limit
          limit=101,             400 parameter_invalid limit
          subject=a&subject=b,   400 parameter_invalid subject
          before=1,              400 parameter_unknown before
          """)
  void whatIsOddIsRefused(String query, String problem) {
    assertProblem(CLIENT.hostile().get("/v1/audit?" + query), problem);
    if (!query.startsWith("after") && !query.startsWith("limit")) {
      assertProblem(CLIENT.hostile().get("/v1/audit/export?" + query), problem);
    }
  }

  @Test
  void itTakesAScopeOfItsOwn() {
    TestClient other = GATEWAY.clientWith(Scope.IDS_READ);

    assertProblem(other.get("/v1/audit"), "403 forbidden");
    assertProblem(other.get("/v1/audit/export"), "403 forbidden");
  }

  private static JsonNode about(String subject) {
    return READER.get("/v1/audit?subject=" + subject).body().path("data");
  }

  private static long entries() {
    return GATEWAY.count("select count(*) from coatcheck.audit_entry");
  }

  private static String items(String field, List<String> ids) {
    return json("items", ids.stream().map(id -> Map.of(field, id)).toList());
  }

  private static List<String> minted(int count) {
    return IntStream.range(0, count).mapToObj(_ -> CLIENT.mint("charge").text("/id")).toList();
  }
}
