package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.assertOneIsPut;
import static dev.coatcheck.api.routes.TestClient.assertProblem;
import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TypePoliciesTest {
  @RegisterExtension static final GatewayFixture GATEWAY = GatewayFixture.shared();
  private static final TestClient CLIENT = GATEWAY.client();

  @Test
  void whatIsLeftOutHasItsDefault() {
    Reply plain = put("plain", "pl", "{}");
    assertThat(plain.body().get("legacy").isNull()).isTrue();
    assertThat(plain.body().get("public_pattern").isNull()).isTrue();
    assertThat(plain.body().get("public_rule").isNull()).isTrue();
    assertThat(plain.body().get("url_templates")).isEmpty();
    assertThat(plain.text("/on_outage")).isEqualTo("serve_stale");
    assertThat(plain.body().at("/stale_seconds_max").intValue()).isEqualTo(60);

    Reply legacy = put("brief", "br", "{\"legacy\":{}}");
    assertThat(legacy.body().get("legacy").toString())
        .isEqualTo(
            """
            {"status":308,"public":true,"max_id":null,"deprecated_at":null,"sunset_at":null,\
            "max_age_seconds":0}\
            """);
  }

  @Test
  void whatIsSaidIsKeptAndAPutReplacesAll() {
    String all =
        """
        {"legacy":{"status":301,"public":false,"max_id":"9223372036854775807",
                   "deprecated_at":"2026-01-01T01:00:00.9+01:00",
                   "sunset_at":"2027-01-01T00:00:00Z","max_age_seconds":31536000},
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
            json(
                "status",
                301,
                "public",
                false,
                "max_id",
                "9223372036854775807",
                "deprecated_at",
                "2026-01-01T00:00:00Z",
                "sunset_at",
                "2027-01-01T00:00:00Z",
                "max_age_seconds",
                31536000));
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
        422,
        "url_template_refused",
        param);
    assertThat(CLIENT.get("/v1/types/danger").status()).isEqualTo(404);
  }

  @Test
  void aTypeHasTwentyUrlTemplatesAtMost() {
    String[] twenty = templates("many", 20);
    String[] more = templates("many", 21);

    assertProblem(
        putTemplates(CLIENT.hostile(), "many", "many", more),
        400,
        "field_invalid",
        "url_templates");
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

    assertProblem(refused, 409, "url_template_conflict", "url_templates[1]");
    assertThat(refused.text("/detail")).contains("/bills/{legacy:bill} of the type bill");
    assertThat(CLIENT.get("/v1/types/receipt").status()).isEqualTo(404);
    Reply own =
        putTemplates(CLIENT, "bill", "bil", "/bills/{legacy:bill}/{*}", "/bills/{*}/{legacy:bill}");
    assertProblem(own, 409, "url_template_conflict", "url_templates[0]");
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

    assertProblem(changed, 412, "precondition_failed", "If-Match");
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
