package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertOneIsPut;
import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.assertPut;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a type may declare; no text is a public ID of two types, or of two systems. */
class TypePoliciesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();

  @BeforeAll
  static void typesWithOlderPublicIds() {
    accepted("plain", "{}");
    accepted("hash", "{'public_rule':{'scheme':'hashids','salt':'a','min_length':8}}");
    accepted("marked", "{'public_rule':{'scheme':'hashids','text_prefix':'inv-'}}");
    accepted(
        "rows",
        "{'public_pattern':{'text_prefix':'cus_','alphabet':'0123456789','min_length':14,'max_length':20}}");
    accepted("device", "{'key':'uuid','public_rule':{'scheme':'uuid'}}");
    accepted("user", "{'key':'uuid','public_rule':{'scheme':'typeid','prefix':'user'}}");
  }

  @Test
  void whatIsLeftOutHasItsDefault() {
    Reply plain = put("bare", "ba", "{}");
    assertThat(plain.body().get("legacy").isNull()).isTrue();
    assertThat(plain.body().get("public_pattern").isNull()).isTrue();
    assertThat(plain.body().get("public_rule").isNull()).isTrue();
    assertThat(plain.body().get("url_templates")).isEmpty();
    assertThat(plain.body().get("dead_link").isNull()).isTrue();
    assertThat(plain.body().get("fallback_url").isNull()).isTrue();
    assertThat(plain.text("/on_outage")).isEqualTo("serve_stale");
    assertThat(plain.body().at("/stale_seconds_max").intValue()).isEqualTo(60);

    Reply legacy = put("brief", "br", "{\"legacy\":{}}");
    assertThat(legacy.body().get("legacy").toString())
        .isEqualTo(
            """
            {"status":308,"public":true,"max_id":null,"deprecated_at":null,"sunset_at":null,\
            "max_age_seconds":0,"sunset_link":null,"brownouts":[],"brownouts_exempt":[]}\
            """);
  }

  @Test
  void whatIsSaidIsKeptAndAPutReplacesAll() {
    String all =
        """
        {"legacy":{"status":301,"public":false,"max_id":"9223372036854775807",
                   "deprecated_at":"2026-01-01T01:00:00.9+01:00",
                   "sunset_at":"2027-01-01T00:00:00Z","max_age_seconds":31536000,
                   "sunset_link":"https://shop.example/legacy?x=1",
                   "brownouts":[{"from":"2026-12-02T00:00:00.9Z","to":"2026-12-09T01:00:00+01:00"},
                                {"from":"2020-01-01T00:00:00Z","to":"2020-01-01T00:00:01Z","answer":410}],
                   "brownouts_exempt":["key_2bN8Qx0LmT4a"]},
         "url_templates":["/shops/{*}/{legacy:order}","/orders/{legacy:order}/x"],
         "public_pattern":{"text_prefix":"old-","alphabet":"0123456789","min_length":1,"max_length":9},
         "on_outage":"refuse","stale_seconds_max":0}
        """;
    put("order", "ord", "{}");

    Reply changed = put("order", "ord", all);
    Reply same = put("order", "ord", all);
    Reply back = put("order", "ord", "{\"legacy\":null,\"public_pattern\":null}");

    assertThat(changed.body().get("legacy").toString())
        .isEqualTo(
            """
            {"status":301,"public":false,"max_id":"9223372036854775807",\
            "deprecated_at":"2026-01-01T00:00:00Z","sunset_at":"2027-01-01T00:00:00Z",\
            "max_age_seconds":31536000,"sunset_link":"https://shop.example/legacy?x=1",\
            "brownouts":[{"from":"2026-12-02T00:00:00Z","to":"2026-12-09T00:00:00Z","answer":503},\
            {"from":"2020-01-01T00:00:00Z","to":"2020-01-01T00:00:01Z","answer":410}],\
            "brownouts_exempt":["key_2bN8Qx0LmT4a"]}\
            """);
    assertThat(changed.body().get("url_templates").toString())
        .isEqualTo("[\"/shops/{*}/{legacy:order}\",\"/orders/{legacy:order}/x\"]");
    assertThat(changed.body().get("public_pattern").toString())
        .isEqualTo(
            json(
                "text_prefix", "old-", "alphabet", "0123456789", "min_length", 1, "max_length", 9));
    assertThat(back.body().get("public_pattern").isNull()).isTrue();
    assertThat(changed.text("/on_outage")).isEqualTo("refuse");
    assertThat(changed.body().at("/stale_seconds_max").intValue()).isZero();
    assertThat(List.of(changed, same, back))
        .extracting(reply -> reply.header("ETag"))
        .containsExactly("\"2\"", "\"2\"", "\"3\"");
    assertThat(back.body().get("legacy").isNull()).isTrue();
    assertThat(back.body().get("url_templates")).isEmpty();
    assertThat(back.text("/on_outage")).isEqualTo("serve_stale");
    assertThat(CLIENT.get("/v1/types/order").body()).isEqualTo(back.body());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      quoteCharacter = '~',
      textBlock =
          """
          "legacy":{"status":302} legacy.status
          "legacy":{"max_id":5} legacy.max_id
          "legacy":{"max_id":"9223372036854775808"} legacy.max_id
          "legacy":{"deprecated_at":"yesterday"} legacy.deprecated_at
          "legacy":{"sunset_at":"2026-02-30T00:00:00Z"} legacy.sunset_at
          "legacy":{"sunset_at":"1969-02-03T00:00:00Z"} legacy.sunset_at
          "legacy":{"deprecated_at":"2027-01-01T00:00:01Z","sunset_at":"2027-01-01T00:00:00Z"} legacy.sunset_at
          "legacy":{"max_age_seconds":31536001} legacy.max_age_seconds
          "legacy":[] legacy
          "legacy":{"sunset_link":"ftp://shop.example"} legacy.sunset_link
          "legacy":{"sunset_link":"https://shop.example/>;x=y"} legacy.sunset_link
          "legacy":{"sunset_link":"https:///x"} legacy.sunset_link
          "legacy":{"brownouts":{}} legacy.brownouts
          "legacy":{"brownouts":[1]} legacy.brownouts[0]
          "legacy":{"brownouts":[{"from":"noon","to":"2026-12-01T10:00:00Z"}]} legacy.brownouts[0].from
          "legacy":{"brownouts":[{"from":"2026-12-01T10:00:00.1Z","to":"2026-12-01T10:00:00.9Z"}]} legacy.brownouts[0].to
          "legacy":{"brownouts":[{"from":"2026-12-01T10:00:00Z","to":"2026-12-08T10:00:01Z"}]} legacy.brownouts[0].to
          "legacy":{"brownouts":[{"from":"2026-12-01T10:00:00Z","to":"2026-12-01T11:00:00Z","answer":200}]} legacy.brownouts[0].answer
          "legacy":{"brownouts":[{"from":"2026-12-01T10:00:00Z","to":"2026-12-01T11:00:00Z"},{"from":"2026-12-01T10:59:59Z","to":"2026-12-01T12:00:00Z"}]} legacy.brownouts[1].from
          "legacy":{"sunset_at":"2026-12-01T10:59:59Z","brownouts":[{"from":"2026-12-01T10:00:00Z","to":"2026-12-01T11:00:00Z"}]} legacy.brownouts[0].to
          "legacy":{"brownouts_exempt":["2bN8Qx0LmT4a"]} legacy.brownouts_exempt
          "legacy":{"brownouts_exempt":"key_2bN8Qx0LmT4a"} legacy.brownouts_exempt
          "url_templates":"/x/{legacy:danger}" url_templates
          "url_templates":["/x/{legacy:danger}",7] url_templates[1]
          "public_pattern":"[0-9]+" public_pattern
          "public_pattern":{"text_prefix":"","alphabet":"0","min_length":0,"max_length":9} public_pattern.min_length
          "public_pattern":{"alphabet":"0","min_length":3,"max_length":2} public_pattern.max_length
          "public_pattern":{"alphabet":"0","min_length":1,"max_length":256} public_pattern.max_length
          "public_pattern":{"text_prefix":"abcde","alphabet":"0","min_length":1,"max_length":251} public_pattern.max_length
          "public_pattern":{"alphabet":"00","min_length":1,"max_length":9} public_pattern.alphabet
          "public_pattern":{"alphabet":"é","min_length":1,"max_length":9} public_pattern.alphabet
          "public_pattern":{"text_prefix":"é","alphabet":"0","min_length":1,"max_length":9} public_pattern.text_prefix
          "public_rule":{"scheme":"base64"} public_rule.scheme
          "public_rule":{"scheme":"typeid","prefix":"user"} public_rule.scheme
          "public_rule":{"scheme":"hashids","alphabet":"0123456789abcde"} public_rule.alphabet
          "public_rule":{"scheme":"sqids","alphabet":"ab"} public_rule.alphabet
          "public_rule":{"scheme":"hashids","min_length":256} public_rule.min_length
          "public_rule":{"scheme":"sqids","min_length":-1} public_rule.min_length
          "public_rule":{"scheme":"sqids","min_length":255,"text_prefix":"x"} public_rule.text_prefix
          "public_rule":{"scheme":"hashids","salt":7} public_rule.salt
          "public_rule":{"scheme":"hashids"},"public_pattern":{"alphabet":"0","min_length":1,"max_length":9} public_rule
          "on_outage":"panic" on_outage
          "stale_seconds_max":61 stale_seconds_max
          """)
  void whatMakesNoSenseIs400AndNamesTheField(String field, String param) {
    Reply refused = CLIENT.hostile().put(TestType.of("danger", "dng").and("{" + field + "}"));

    assertThat(List.of(refused.status(), refused.text("/code"), refused.text("/param")))
        .containsExactly(400, "field_invalid", param);
    assertThat(CLIENT.get("/v1/types/danger").status()).isEqualTo(404);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      textBlock =
          """
          /x/{legacy:danger},x/{legacy:danger} url_templates[1]
          /x/{danger} url_templates[0]
          /x/{legacy:danger}/ url_templates[0]
          //x.example/{legacy:danger} url_templates[0]
          /x/{legacy:nothing}/{legacy:danger} url_templates[0]
          /x/{legacy:known} url_templates[0]
          /x/{legacy:danger},/x/{legacy:Danger} url_templates[1]
          """)
  void aUrlTemplateThatIsNoneIs422AndNamesItself(String templates, String param) {
    put("known", "kno", "{}");

    assertProblem(
        putTemplates(CLIENT.hostile(), "danger", "dng", templates.split(",")),
        "422 url_template_refused " + param);
    assertThat(CLIENT.get("/v1/types/danger").status()).isEqualTo(404);
  }

  @Test
  void aTypeHasTwentyUrlTemplatesAtMost() {
    String[] twenty = templates("many", 20);
    String[] more = templates("many", 21);

    assertProblem(
        putTemplates(CLIENT.hostile(), "many", "many", more), "400 field_invalid url_templates");
    assertThat(putTemplates(CLIENT, "many", "many", twenty).body().get("url_templates"))
        .hasSize(20);
    assertThat(CLIENT.get("/v1/types/many").body().get("url_templates")).hasSize(20);
  }

  @Test
  void urlTemplatesThatContradictEachOtherAre409AndBothAreNamed() {
    assertThat(putTemplates(CLIENT, "bill", "bil", "/bills/{legacy:bill}").status()).isEqualTo(201);

    Reply refused =
        putTemplates(
            CLIENT, "receipt", "rcp", "/receipts/{legacy:receipt}/x", "/{*}/{legacy:receipt}");

    assertProblem(refused, "409 url_template_conflict url_templates[1]");
    assertThat(refused.text("/detail")).contains("/bills/{legacy:bill} of the type bill");
    assertThat(CLIENT.get("/v1/types/receipt").status()).isEqualTo(404);
    Reply own =
        putTemplates(CLIENT, "bill", "bil", "/bills/{legacy:bill}/{*}", "/bills/{*}/{legacy:bill}");
    assertProblem(own, "409 url_template_conflict url_templates[0]");
    assertThat(own.text("/detail")).contains("another URL template of this type");
    assertThat(CLIENT.get("/v1/types/bill").header("ETag")).isEqualTo("\"1\"");
  }

  @Test
  void twoTypesMayHaveTheSameUrlTemplateWithBoth() {
    put("parent", "par", "{}");
    put("child", "chi", "{}");
    String both = "/parents/{legacy:parent}/children/{legacy:child}";

    assertThat(putTemplates(CLIENT, "parent", "par", both).status()).isEqualTo(200);
    assertThat(putTemplates(CLIENT, "child", "chi", both).status()).isEqualTo(200);
  }

  /** Whichever is first, the other one is refused. */
  @Test
  void ofTwoTypesThatContradictEachOtherAtOnceOnlyOneIsPut() throws Exception {
    for (int round = 0; round < 20; round++) {
      String path = "/race" + round + "/";
      String one = "one" + round;
      String two = "two" + round;
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<Reply>> puts =
            List.of(
                threads.submit(() -> putTemplates(CLIENT, one, one, path + "{legacy:" + one + "}")),
                threads.submit(
                    () -> putTemplates(CLIENT, two, two, path + "{legacy:" + two + "}")));
        assertOneIsPut(puts.get(0).get(), puts.get(1).get(), 409);
      }
    }
  }

  @Test
  void theVersionDecidesBeforeTheUrlTemplates() {
    putTemplates(CLIENT, "first", "fir", "/first/{legacy:first}");
    Reply changed =
        CLIENT
            .with("If-Match", "\"7\"")
            .put(
                TestType.of("second", "sec")
                    .with("url_templates", List.of("/{*}/{legacy:second}")));

    assertProblem(changed, "412 precondition_failed If-Match");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          hash   | public_rule    | {'public_rule':{'scheme':'hashids','salt':'b','min_length':8}}
          hash   | public_rule    | {'public_rule':{'scheme':'hashids','salt':'b'}}
          hash   | public_rule    | {'public_rule':{'scheme':'sqids'}}
          hash   | public_rule    | {'public_rule':{'scheme':'sqids','text_prefix':'x'}}
          hash   | public_pattern | {'public_pattern':{'alphabet':'0123456789','min_length':1,'max_length':8}}
          marked | public_rule    | {'public_rule':{'scheme':'sqids','text_prefix':'inv-'}}
          marked | public_rule    | {'public_rule':{'scheme':'sqids','text_prefix':'inv-x'}}
          marked | public_pattern | {'public_pattern':{'text_prefix':'inv','alphabet':'-0123456789','min_length':1,'max_length':4}}
          rows   | public_pattern | {'public_pattern':{'text_prefix':'cus_0','alphabet':'09','min_length':13,'max_length':13}}
          device | public_rule    | {'key':'uuid','public_rule':{'scheme':'uuid'}}
          device | public_pattern | {'public_pattern':{'alphabet':'0123456789abcdef-','min_length':36,'max_length':36}}
          user   | public_rule    | {'key':'uuid','public_rule':{'scheme':'typeid','prefix':'user'}}
          plain  | public_pattern | {'public_pattern':{'text_prefix':'plain_','alphabet':'0123456789','min_length':24,'max_length':24}}
          plain  | public_rule    | {'public_rule':{'scheme':'sqids','text_prefix':'plain_','min_length':24}}
          `the same type` | public_pattern | {'public_pattern':{'text_prefix':'late_','alphabet':'0123456789','min_length':1,'max_length':30}}
          """)
  void declarationsThatOverlapAreRefused(String other, String field, String declared) {
    Reply refused = declare(CLIENT.hostile(), "late", declared);

    assertProblem(refused, "422 public_ids_overlap " + field);
    assertThat(refused.text("/detail"))
        .contains(other.equals("the same type") ? "of this type itself" : "of the type " + other);
    assertThat(CLIENT.get("/v1/types/late").status()).isEqualTo(404);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          fine1 | {'public_rule':{'scheme':'hashids','salt':'b','min_length':8,'text_prefix':'bill-'}}
          fine2 | {'public_rule':{'scheme':'sqids','min_length':40}}
          fine3 | {'public_rule':{'scheme':'hashids','alphabet':'!#$%&()*+,./:;<=>?'}}
          fine4 | {'key':'uuid','public_rule':{'scheme':'typeid','prefix':'users'}}
          fine5 | {'key':'uuid','public_rule':{'scheme':'uuid','text_prefix':'u-'}}
          fine6 | {'key':'uuid','public_rule':{'scheme':'typeid','prefix':''}}
          fine7 | {'public_pattern':{'text_prefix':'cus_','alphabet':'0123456789','min_length':1,'max_length':13}}
          fine8 | {'public_pattern':{'text_prefix':'cus_','alphabet':'abcdef','min_length':14,'max_length':20}}
          fine9 | {'public_pattern':{'text_prefix':'plain_','alphabet':'0123456789','min_length':25,'max_length':30}}
          """)
  void declarationsThatDifferAreAcceptedAndKept(String type, String declared) {
    Reply put = declare(CLIENT, type, declared);

    assertPut(put);
    Reply again = CLIENT.get("/v1/types/" + type);
    assertThat(again.body()).isEqualTo(put.body());
    assertThat(declare(CLIENT, type, declared).header("ETag")).isEqualTo("\"1\"");
    String field = declared.contains("public_rule") ? "public_rule" : "public_pattern";
    assertThat(again.body().get(field).has("text_prefix")).isTrue();
  }

  /** What was accepted may be put again, and a declaration that is taken back is free. */
  @Test
  void aDeclarationThatIsTakenBackIsFree() {
    String declared = "{'public_rule':{'scheme':'sqids','text_prefix':'free-'}}";
    accepted("freed", declared);
    assertThat(declare(CLIENT, "freed", declared).status()).isEqualTo(200);
    assertProblem(
        declare(CLIENT.hostile(), "taken", declared), "422 public_ids_overlap public_rule");

    assertThat(declare(CLIENT, "freed", "{'public_rule':null}").status()).isEqualTo(200);

    accepted("taken", declared);
  }

  /** A type that comes later may not have public IDs that are older public IDs of another type. */
  @Test
  void aPrefixThatAnOlderSystemHasIsRefused() {
    accepted(
        "taker",
        "{'public_pattern':{'text_prefix':'tkn_','alphabet':'0123456789abcdef','min_length':24,'max_length':24}}");

    Reply refused = CLIENT.hostile().put(TestType.of("token", "tkn"));

    assertProblem(refused, "422 public_ids_overlap prefix");
    assertThat(refused.text("/detail")).contains("of the type taker");
    assertPut(CLIENT.put(TestType.of("token", "tk")));
  }

  @Test
  void ofTwoThatOverlapAtOnceOnlyOneIsPut() throws Exception {
    for (int round = 0; round < 10; round++) {
      String fields = "{'public_rule':{'scheme':'sqids','text_prefix':'race" + round + "-'}}";
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<Reply>> puts = new ArrayList<>();
        for (String side : List.of("left", "right")) {
          String type = side + round;
          puts.add(threads.submit(() -> declare(CLIENT.hostile(), type, fields)));
        }
        assertOneIsPut(puts.get(0).get(), puts.get(1).get(), 422);
      }
    }
  }

  /** The schemes show their own fields only. */
  @Test
  void aRuleIsShownAsItWasDeclared() {
    assertThat(CLIENT.get("/v1/types/marked").body().get("public_rule").toString())
        .isEqualTo(
            """
            {"scheme":"hashids","text_prefix":"inv-","salt":"",\
            "alphabet":"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890","min_length":0}\
            """);
    assertThat(CLIENT.get("/v1/types/user").body().get("public_rule").toString())
        .isEqualTo("{\"scheme\":\"typeid\",\"text_prefix\":\"\",\"prefix\":\"user\"}");
    assertThat(CLIENT.get("/v1/types/device").body().get("public_rule"))
        .hasToString("{\"scheme\":\"uuid\",\"text_prefix\":\"\"}");
    assertThat(CLIENT.get("/v1/types/user").body().get("public_pattern").isNull()).isTrue();
  }

  private static void accepted(String type, String fields) {
    assertPut(declare(CLIENT, type, fields));
  }

  private static Reply declare(TestClient as, String type, String fields) {
    return as.put(TestType.of(type, type).and(fields.replace('\'', '"')));
  }

  private static String[] templates(String type, int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> "/many/" + i + "/{legacy:" + type + "}")
        .toArray(String[]::new);
  }

  private static Reply putTemplates(
      TestClient as, String name, String prefix, String... templates) {
    return as.put(TestType.of(name, prefix).with("url_templates", List.of(templates)));
  }

  private static Reply put(String name, String prefix, String more) {
    return CLIENT.put(TestType.of(name, prefix).and(more));
  }
}
