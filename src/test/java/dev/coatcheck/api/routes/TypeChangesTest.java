package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A type is changed field by field, and no change ends links of live public IDs silently. */
class TypeChangesTest {
  private static final String REDIRECT = "'redirect':{'template':'https://a.example/{id}'}";

  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();
  private static final TestClient MERGE =
      CLIENT.with("Content-Type", "application/merge-patch+json");

  private static int types;

  @Test
  void aPatchChangesTheFieldsThatItHasAndKeepsAllOthers() {
    TestType type =
        type(REDIRECT + ",'legacy':{'max_id':'4711','max_age_seconds':60},'on_outage':'refuse'");
    CLIENT.put(type.with("client_names", "shared"));
    String path = "/v1/types/" + type.name();
    Reply before = CLIENT.get(path);

    Reply patched =
        MERGE.patch(path, quoted("{'legacy':{'max_id':'5000'},'stale_seconds_max':30}"));

    assertThat(patched.status()).isEqualTo(200);
    assertThat(patched.text("/legacy/max_id")).isEqualTo("5000");
    assertThat(patched.body().at("/legacy/max_age_seconds").intValue()).isEqualTo(60);
    assertThat(patched.body().at("/stale_seconds_max").intValue()).isEqualTo(30);
    for (String kept : List.of("/prefix", "/redirect", "/on_outage", "/client_names", "/layout")) {
      assertThat(patched.body().at(kept)).as(kept).isEqualTo(before.body().at(kept));
    }
    assertThat(patched.header("ETag")).isEqualTo("\"2\"");
    assertThat(CLIENT.get(path).body()).isEqualTo(patched.body());
    assertThat(CLIENT.get(path).header("ETag")).isEqualTo("\"2\"");
    Reply again = CLIENT.patch(path, quoted("{'legacy':{'max_id':'5000'}}"));
    assertThat(again.body()).isEqualTo(patched.body());
    assertThat(CLIENT.patch(path, "{}").header("ETag")).isEqualTo("\"2\"");
  }

  @Test
  void aNullRemovesAFieldAndClientNamesStay() {
    TestType type = type(REDIRECT + ",'legacy':{},'on_outage':'refuse'");
    CLIENT.put(type.with("client_names", "shared"));

    Reply patched =
        MERGE.patch(
            "/v1/types/" + type.name(),
            quoted("{'redirect':null,'on_outage':null,'client_names':null}"));

    assertThat(patched.body().get("redirect").isNull()).isTrue();
    assertThat(patched.text("/on_outage")).isEqualTo("serve_stale");
    assertThat(patched.text("/client_names")).isEqualTo("shared");
    assertThat(patched.body().get("legacy").isObject()).isTrue();
  }

  @Test
  void whatAGetAnswersCanBePutAgainForEachKindOfType() {
    CLIENT.put("/v1/segments/patched", "{}");
    for (TestType type :
        List.of(
            TestType.of("kind1", "kindone").with("layout", "wide-sequence"),
            TestType.of("kind2", "kindtwo").uuids().with("public_rule", Map.of("scheme", "uuid")),
            TestType.of("kind3", "kindthree").with("generate", "none"),
            TestType.of("kind4", "kindfour").with("generate", "segment").with("tag", "patched"))) {
      Reply put = CLIENT.put(type);
      Reply patched = CLIENT.patch("/v1/types/" + type.name(), "{\"stale_seconds_max\":1}");

      assertThat(patched.status()).as(type.name()).isEqualTo(200);
      assertThat(patched.body().get("public_rule")).isEqualTo(put.body().get("public_rule"));
      assertThat(patched.body().get("tag")).isEqualTo(put.body().get("tag"));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          []                                        | 400 json_malformed
          "x"                                       | 400 json_malformed
          null                                      | 400 json_malformed
          {'stale_seconds_max':1,'stale_seconds_max':2} | 400 json_malformed
          {'prefix':null}                           | 400 field_missing prefix
          {'key':null}                              | 400 field_missing key
          {'colour':'red'}                          | 400 field_unknown colour
          {'colour':null}                           | 400 field_unknown colour
          {'version':7}                             | 400 field_unknown version
          {'redirect':{'colour':1}}                 | 400 field_unknown redirect.colour
          {'redirect':{'template':null}}            | 400 field_missing redirect.template
          {'redirect':{'status':418}}               | 400 field_invalid redirect.status
          {'redirect':'https://a.example'}          | 400 field_invalid redirect
          {'redirect':{'template':'//evil'}}        | 422 redirect_template_refused redirect.template
          {'url_templates':['/x/{legacy:nothing}/{legacy:faulty}']} | 422 url_template_refused url_templates[0]
          {'prefix':'other'}                        | 409 immutable_field prefix
          {'generate':'none'}                       | 422 key_generation_refused layout
          """)
  void aPatchThatMakesNoTypeChangesNothing(String patch, String problem) {
    CLIENT.put(TestType.of("faulty", "flt").and(quoted("{" + REDIRECT + "}")));
    Reply before = CLIENT.get("/v1/types/faulty");

    assertProblem(MERGE.hostile().patch("/v1/types/faulty", quoted(patch)), problem);

    assertThat(CLIENT.get("/v1/types/faulty").body()).isEqualTo(before.body());
  }

  @Test
  void aPatchOfAnotherVersionIs412AndOfNoTypeIs404() {
    TestType type = type(REDIRECT);
    CLIENT.put(type);
    String path = "/v1/types/" + type.name();
    String patch = "{\"stale_seconds_max\":1}";
    String tag = CLIENT.get(path).header("ETag");

    assertThat(CLIENT.with("If-Match", tag).patch(path, patch).status()).isEqualTo(200);
    assertProblem(
        CLIENT.with("If-Match", tag).patch(path, patch), "412 precondition_failed If-Match");
    assertProblem(
        CLIENT.hostile().with("If-Match", "W/" + tag).patch(path, patch),
        "400 header_invalid If-Match");
    assertProblem(CLIENT.patch("/v1/types/nothing", patch), "404 type_unknown name");
    assertProblem(
        CLIENT.hostile().with("Content-Type", "application/json-patch+json").patch(path, patch),
        "415 unsupported_media_type");
    assertProblem(MERGE.hostile().send("PUT", path, type.body()), "415 unsupported_media_type");
  }

  @Test
  void patchesOfDifferentFieldsAtOnceAllTakeEffect() throws Exception {
    TestType type = type(REDIRECT);
    CLIENT.put(type);
    String path = "/v1/types/" + type.name();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 1; round <= 20; round++) {
        int value = round;
        List<Future<Reply>> patches =
            List.of(
                threads.submit(() -> CLIENT.patch(path, json("stale_seconds_max", value))),
                threads.submit(
                    () -> CLIENT.patch(path, json("legacy", Map.of("max_age_seconds", value)))),
                threads.submit(
                    () -> CLIENT.patch(path, json("redirect", Map.of("max_age_seconds", value)))));
        for (Future<Reply> patch : patches) {
          assertThat(patch.get().status()).isEqualTo(200);
        }
        // An instance that is too busy to read its types at once does so soon after.
        Awaitility.await()
            .pollDelay(Duration.ZERO)
            .untilAsserted(
                () -> {
                  Reply now = CLIENT.get(path);
                  for (String field :
                      List.of(
                          "/stale_seconds_max",
                          "/legacy/max_age_seconds",
                          "/redirect/max_age_seconds")) {
                    assertThat(now.body().at(field).intValue()).isEqualTo(value);
                  }
                });
      }
    }
  }

  /** Without quotes: before, the patch, and the fields that it says end links. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          REDIRECT | {'redirect':null} | redirect
          REDIRECT | {'redirect':{'public':false}} | redirect.public
          REDIRECT,'legacy':{} | {'legacy':null} | legacy
          REDIRECT,'legacy':{} | {'legacy':{'public':false}} | legacy.public
          REDIRECT,'legacy':{} | {'legacy':{'sunset_at':'2021-01-01T00:00:00Z'}} | legacy.sunset_at
          REDIRECT,'legacy':{} | {'legacy':{'max_id':'9'}} | legacy.max_id
          REDIRECT,'legacy':{'max_id':'9'} | {'legacy':{'max_id':'8'}} | legacy.max_id
          REDIRECT,'legacy':{} | {'redirect':null,'legacy':null} | redirect,legacy
          'legacy':{},'url_templates':['/x/{legacy:NAME}'] | {'legacy':null} | legacy
          'legacy':{},'url_templates':['/x/{legacy:NAME}'] | {'url_templates':null} | url_templates
          'legacy':{},'url_templates':['/x/{legacy:NAME}'] | {'redirect':{'template':'https://a.example','public':false}} | redirect.public
          'url_templates':['/x/{legacy:NAME}','/y/{legacy:NAME}'] | {'url_templates':['/x/{legacy:NAME}']} | url_templates
          'url_templates':['/x/{legacy:NAME}'] | {'legacy':{'sunset_at':'2021-01-01T00:00:00Z'}} | legacy.sunset_at
          'public_rule':{'scheme':'hashids','text_prefix':'NAME-'} | {'public_rule':null} | public_rule
          'public_rule':{'scheme':'hashids','text_prefix':'NAME-'} | {'public_rule':{'salt':'b'}} | public_rule
          'public_rule':{'scheme':'hashids','text_prefix':'NAME-'} | {'public_rule':{'text_prefix':'NAME_'}} | public_rule
          'public_rule':{'scheme':'hashids','text_prefix':'NAME-'},'legacy':{} | {'legacy':{'public':false}} | legacy.public
          PATTERN | {'public_pattern':null} | public_pattern
          PATTERN | {'public_pattern':{'text_prefix':'NAME_'}} | public_pattern
          PATTERN | {'public_pattern':{'alphabet':'012345678'}} | public_pattern
          PATTERN | {'public_pattern':{'min_length':5}} | public_pattern
          PATTERN | {'public_pattern':{'max_length':8}} | public_pattern
          PATTERN | {'public_pattern':null,'public_rule':{'scheme':'sqids','text_prefix':'NAME!'}} | public_pattern
          """)
  void aChangeThatEndsLinksIs409UnlessItIsConfirmed(String before, String patch, String fields) {
    TestType type = type(before);
    CLIENT.put(type);
    String path = "/v1/types/" + type.name();
    String body = named(patch, type);
    CLIENT.mint(type.name());
    Reply present = CLIENT.get(path);

    Reply refused = CLIENT.patch(path, body);

    assertProblem(refused, "409 links_would_die");
    assertThat(refused.body().at("/dying_links").findValuesAsString("param"))
        .containsExactly(fields.split(","));
    assertThat(refused.body().at("/live_ids").intValue()).isEqualTo(1);
    assertThat(refused.body().at("/live_ids_exact").booleanValue()).isTrue();
    Reply dry = CLIENT.patch(path + "?dry_run=true", body);
    assertProblem(dry, "409 links_would_die");
    assertThat(dry.body().path("dying_links")).isEqualTo(refused.body().path("dying_links"));
    assertThat(CLIENT.patch(path + "?dry_run=true&confirm=links", body).status()).isEqualTo(204);
    assertThat(CLIENT.get(path).body()).isEqualTo(present.body());
    assertProblem(
        CLIENT.hostile().patch(path + "?confirm=yes", body), "400 parameter_invalid confirm");
    Reply confirmed = CLIENT.patch(path + "?confirm=links", body);
    assertThat(confirmed.status()).isEqualTo(200);
    assertThat(confirmed.header("ETag")).isEqualTo("\"2\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          REDIRECT,'legacy':{} | {'redirect':{'template':'https://b.example/{id}','status':308}}
          REDIRECT,'legacy':{} | {'legacy':{'sunset_at':'2999-01-01T00:00:00Z','status':301}}
          REDIRECT,'legacy':{} | {'legacy':{'brownouts':[{'from':'2026-01-01T00:00:00Z','to':'2026-01-02T00:00:00Z','answer':410}]}}
          REDIRECT,'legacy':{'max_id':'9'} | {'legacy':{'max_id':'10'}}
          REDIRECT,'legacy':{'max_id':'9'} | {'legacy':{'max_id':null}}
          REDIRECT,'legacy':{'public':false} | {'legacy':null}
          REDIRECT,'legacy':{'sunset_at':'2021-01-01T00:00:00Z'} | {'legacy':null}
          'redirect':{'template':'https://a.example','public':false},'legacy':{} | {'redirect':null,'legacy':null}
          'legacy':{} | {'legacy':null}
          REDIRECT | {'legacy':{'sunset_at':'2021-01-01T00:00:00Z'}}
          PATTERN | {'public_pattern':{'alphabet':'9876543210x','min_length':3,'max_length':12}}
          PATTERN | {'public_pattern':{'text_prefix':'NAME','alphabet':'-0123456789','min_length':5,'max_length':10}}
          'url_templates':['/x/{legacy:NAME}'] | {'url_templates':['/y/{legacy:NAME}','/x/{legacy:NAME}']}
          REDIRECT | {'on_outage':'refuse','client_names':'required'}
          """)
  void aChangeThatKeepsLinksIsMade(String before, String patch) {
    TestType type = type(before);
    CLIENT.put(type);
    CLIENT.mint(type.name());

    Reply patched = CLIENT.patch("/v1/types/" + type.name(), named(patch, type));

    assertThat(patched.status()).isEqualTo(200);
    assertThat(patched.header("ETag")).isEqualTo("\"2\"");
  }

  @Test
  void aDryRunSaysWhatTheChangeWouldBeAnsweredAndChangesNothing() {
    TestType type = type(REDIRECT);
    String path = "/v1/types/" + type.name();
    String dry = path + "?dry_run=true";
    assertThat(CLIENT.put(dry, type.body()).status()).isEqualTo(204);
    assertProblem(CLIENT.patch(dry, "{\"on_outage\":\"refuse\"}"), "404 type_unknown name");
    assertProblem(CLIENT.get(path), "404 type_unknown name");

    CLIENT.put(type);
    Reply present = CLIENT.get(path);
    assertThat(CLIENT.patch(dry, "{\"on_outage\":\"refuse\"}").status()).isEqualTo(204);
    assertProblem(
        CLIENT.put(dry, type.with("prefix", "other").body()), "409 immutable_field prefix");
    assertProblem(
        CLIENT.hostile().put(path + "?dry_run=yes", type.body()), "400 parameter_invalid dry_run");
    assertThat(CLIENT.get(path).body()).isEqualTo(present.body());
    assertThat(
            CLIENT
                .put(path + "?dry_run=false", type.with("on_outage", "refuse").body())
                .header("ETag"))
        .isEqualTo("\"2\"");
  }

  @Test
  void aUrlTemplateThatAnotherTypeHasTooIsKept() {
    CLIENT.put(TestType.of("outer", "outer"));
    CLIENT.put(TestType.of("inner", "inner"));
    CLIENT.mint("outer");
    List<String> both = List.of("/outers/{legacy:outer}/inners/{legacy:inner}");
    CLIENT.patch("/v1/types/outer", json("url_templates", both));
    CLIENT.patch("/v1/types/inner", json("url_templates", both));

    assertThat(CLIENT.patch("/v1/types/outer", json("url_templates", List.of())).status())
        .isEqualTo(200);
  }

  /** The whole type, as {@code coatcheck types put} sends it. */
  @Test
  void aPutThatLeavesALinkOutIsRefusedToo() {
    TestType type = type(REDIRECT + ",'legacy':{}");
    CLIENT.put(type);
    String id = CLIENT.mint(type.name(), "legacy_id", "7").text("/id");
    TestType less = type.with("legacy", null);

    assertProblem(CLIENT.put(less), "409 links_would_die");
    assertProblem(CLIENT.put(less.with("prefix", "other")), "409 immutable_field prefix");
    assertThat(CLIENT.anonymous().get("/legacy/" + type.name() + "/7").status()).isEqualTo(308);
    assertThat(CLIENT.putConfirmed(less).status()).isEqualTo(200);
    assertThat(CLIENT.anonymous().get("/legacy/" + type.name() + "/7").status()).isEqualTo(404);
    assertThat(CLIENT.anonymous().get("/r/" + id).status()).isEqualTo(302);
  }

  @Test
  void aTypeWithoutLivePublicIdsIsChangedFreely() {
    TestType type = type(REDIRECT);
    CLIENT.put(type);
    assertThat(CLIENT.put(type.with("redirect", null)).status()).isEqualTo(200);
    CLIENT.put(type);
    String id = CLIENT.mint(type.name()).text("/id");
    CLIENT.post("/v1/ids/" + id + "/revoke", "{}");

    assertThat(CLIENT.put(type.with("redirect", null)).status()).isEqualTo(200);
  }

  @Test
  void aRefusalCountsTheHitsOfThirtyDaysAndTenThousandLiveIds() {
    TestType type = type(REDIRECT + ",'legacy':{}");
    CLIENT.put(type);
    String number = "(select type_id from coatcheck.type where name = '%s')".formatted(type.name());
    GATEWAY.execute(
        """
        insert into coatcheck.legacy_hit (count, day, type_id)
        select 20000 + age, (now() at time zone 'UTC')::date - age, %s
          from unnest(array[29, 30, 3]) as age
        """
            .formatted(number));
    String rows =
        """
        insert into coatcheck.public_id (key, token, type_id, bucket, status)
        select n, gen_random_uuid(), %s, 0, (n %% 10 = 0)::int
          from generate_series(%d, %d) as n
        """;

    GATEWAY.execute(rows.formatted(number, 1, 10_000));
    Reply all = CLIENT.patch("/v1/types/" + type.name(), "{\"legacy\":null}");
    GATEWAY.execute(rows.formatted(number, 10_001, 30_000));
    Reply many = CLIENT.patch("/v1/types/" + type.name(), "{\"legacy\":null}");

    assertThat(all.body().at("/legacy_hits_30_days").intValue()).isEqualTo(40_032);
    assertThat(all.body().at("/live_ids").intValue()).isEqualTo(9_000);
    assertThat(all.body().at("/live_ids_exact").booleanValue()).isTrue();
    assertThat(many.body().at("/live_ids").intValue()).isBetween(8_999, 9_001);
    assertThat(many.body().at("/live_ids_exact").booleanValue()).isFalse();
  }

  /** A put that removes what another one adds at the same time comes before it, or is refused. */
  @Test
  void noPutEndsTheLinksThatAnotherOneHasJustMade() throws Exception {
    TestType bare = type("'on_outage':'refuse'");
    CLIENT.put(bare);
    CLIENT.mint(bare.name());
    TestType linked = bare.and(quoted("{" + REDIRECT + "}"));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < 20; round++) {
        Future<Reply> adding = threads.submit(() -> CLIENT.put(linked));
        Future<Reply> removing = threads.submit(() -> CLIENT.put(bare));
        assertThat(adding.get().status()).isEqualTo(200);
        assertThat(removing.get().status()).isIn(200, 409);
        assertThat(CLIENT.get("/v1/types/" + bare.name()).body().get("redirect").isNull())
            .isFalse();
        CLIENT.putConfirmed(bare);
      }
    }
  }

  private static TestType type(String fields) {
    types++;
    TestType type = TestType.of("t" + types + "x", "chg" + types);
    return type.and(named("{" + fields + "}", type));
  }

  private static String named(String text, TestType type) {
    return quoted(
        text.replace("REDIRECT", REDIRECT)
            .replace(
                "PATTERN",
                "'public_pattern':{'text_prefix':'NAME-','alphabet':'0123456789','min_length':4,'max_length':9}")
            .replace("/x/", "/x" + type.name() + "/")
            .replace("NAME", type.name()));
  }

  private static String quoted(String text) {
    return text.replace('\'', '"');
  }
}
