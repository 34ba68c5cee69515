package dev.coatcheck.core.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class JsonObjectTest {
  @Test
  void aCallWithoutFieldsSaysThatItHasNone() {
    assertThatThrownBy(() -> object("{'x':1}").allow())
        .isInstanceOf(JsonFault.class)
        .hasMessageContaining("No field is known here.");
  }

  @Test
  void aRefusedTimeSaysWhatIsTaken() {
    String late = "{'until':'9999-12-31T23:59:59Z'}";

    assertThatThrownBy(() -> object(late).optionalTime("until"))
        .hasMessageContaining("from 1970-01-01 to 9999-12-30.");
    assertThatThrownBy(() -> object(late).nullableTime("until"))
        .hasMessageContaining("from 1970-01-01 to 9999-12-30, or null.");
    assertThat(object("{'until':'9999-12-30T23:59:59Z'}").optionalTime("until")).isPresent();
    assertThat(object("{'until':null}").nullableTime("until")).isEmpty();
    assertThatThrownBy(() -> object("{'until':null}").optionalTime("until"))
        .isInstanceOf(JsonFault.class);
  }

  private static JsonObject object(String json) {
    return JsonObject.of(new JsonMapper().readTree(json.replace('\'', '"')));
  }
}
