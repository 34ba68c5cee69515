package dev.coatcheck.api.routes;

import static dev.coatcheck.api.routes.TestClient.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.TestClient.Reply;
import dev.coatcheck.ids.registry.TestType;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TypePoliciesTest {
  private static GatewayFixture gateway;
  private static TestClient client;

  @BeforeAll
  static void start() {
    gateway = new GatewayFixture();
    client = gateway.client().patient();
  }

  @AfterAll
  static void stop() {
    gateway.close();
  }

  @Test
  void whatIsLeftOutHasItsDefault() {
    Reply plain = put("plain", "pl", "{}");
    assertThat(plain.body().get("legacy").isNull()).isTrue();
    assertThat(plain.body().get("public_pattern").isNull()).isTrue();
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
         "public_pattern":"old-\\\\d+","on_outage":"refuse","stale_seconds_max":0}
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
    assertThat(changed.text("/public_pattern")).isEqualTo("old-\\d+");
    assertThat(changed.text("/on_outage")).isEqualTo("refuse");
    assertThat(changed.body().at("/stale_seconds_max").intValue()).isZero();
    assertThat(List.of(changed, same, back))
        .extracting(reply -> reply.header("ETag"))
        .containsExactly("\"2\"", "\"2\"", "\"3\"");
    assertThat(back.body().get("legacy").isNull()).isTrue();
    assertThat(back.text("/on_outage")).isEqualTo("serve_stale");
    assertThat(client.get("/v1/types/order").body()).isEqualTo(back.body());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      quoteCharacter = '~',
      textBlock =
          """
          "legacy":{"status":302} legacy.status
          "legacy":{"status":"308"} legacy.status
          "legacy":{"max_id":5} legacy.max_id
          "legacy":{"max_id":"0"} legacy.max_id
          "legacy":{"max_id":"9223372036854775808"} legacy.max_id
          "legacy":{"deprecated_at":"yesterday"} legacy.deprecated_at
          "legacy":{"sunset_at":"2026-02-30T00:00:00Z"} legacy.sunset_at
          "legacy":{"sunset_at":"+12026-02-03T00:00:00Z"} legacy.sunset_at
          "legacy":{"sunset_at":"1969-02-03T00:00:00Z"} legacy.sunset_at
          "legacy":{"deprecated_at":"2027-01-01T00:00:01Z","sunset_at":"2027-01-01T00:00:00Z"} legacy.sunset_at
          "legacy":{"max_age_seconds":31536001} legacy.max_age_seconds
          "legacy":[] legacy
          "public_pattern":"(a" public_pattern
          "public_pattern":"dng_.+" public_pattern
          "public_pattern":7 public_pattern
          "on_outage":"panic" on_outage
          "stale_seconds_max":61 stale_seconds_max
          "stale_seconds_max":-1 stale_seconds_max
          """)
  void whatMakesNoSenseIs400AndNamesTheField(String field, String param) {
    Reply refused = client.hostile().put(TestType.of("danger", "dng").and("{" + field + "}"));

    assertThat(List.of(refused.status(), refused.text("/code"), refused.text("/param")))
        .containsExactly(400, "field_invalid", param);
    assertThat(client.get("/v1/types/danger").status()).isEqualTo(404);
  }

  private static Reply put(String name, String prefix, String more) {
    return client.put(TestType.of(name, prefix).and(more));
  }
}
