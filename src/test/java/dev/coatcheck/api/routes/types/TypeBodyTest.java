package dev.coatcheck.api.routes.types;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.json.JsonFault;
import dev.coatcheck.core.json.JsonObject;
import dev.coatcheck.core.key.KeyTimes;
import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.ids.registry.RedirectHosts;
import dev.coatcheck.ids.registry.TestType;
import dev.coatcheck.ids.registry.Type;
import dev.coatcheck.ids.registry.TypeDefinition;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

/** A type whose layout has ended and whose hosts are no longer listed. */
class TypeBodyTest {
  private static final TypeBody BODIES =
      new TypeBody(
          RedirectHosts.parse("listed.example"),
          InstantSource.fixed(Instant.parse("2040-01-01T00:00:00Z")));

  private static final Type TYPE =
      TestType.of("charge", "ch")
          .redirect("https://old.example/{id}")
          .with("fallback_url", "https://older.example/")
          .registered(
              new KeyTimes.Snowflakes(SnowflakeLayout.accepted("29x1000/21/13@1463673600000")));

  @Test
  void aPatchKeepsWhatWouldBeRefusedToday() {
    TypeDefinition retired = BODIES.patched(TYPE, object("{\"retired\": true}"));

    assertThat(retired.retired()).isTrue();
    assertThat(retired.generation()).isEqualTo(TYPE.generation());
    assertThat(retired.policies()).isEqualTo(TYPE.policies());
    assertThat(BODIES.patched(TYPE, object("{\"redirect\": {\"status\": 301}}")).policies())
        .satisfies(
            policies -> assertThat(policies.redirect().orElseThrow().status()).isEqualTo(301));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"redirect\": {\"template\": \"https://old.example/other/{id}\"}}",
        "{\"fallback_url\": \"https://older.example/other\"}",
        "{\"layout\": \"28x1000/22/13@1463673600000\"}"
      })
  void aPatchIsRefusedForWhatItChanges(String patch) {
    assertThatThrownBy(() -> BODIES.patched(TYPE, object(patch))).isInstanceOf(JsonFault.class);
  }

  private static JsonObject object(String json) {
    return JsonObject.of(new JsonMapper().readTree(json));
  }
}
