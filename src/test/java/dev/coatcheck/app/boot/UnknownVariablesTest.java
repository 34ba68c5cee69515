package dev.coatcheck.app.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class UnknownVariablesTest {
  @Test
  void aVariableWithinTwoLettersOfASettingIsNamed() {
    assertThat(
            UnknownVariables.named(
                List.of("COATCHECK_PROT", "COATCHECK_DATABASE_URI", "COATCHECKPORT", "PORT")))
        .containsExactly(
            "COATCHECKPORT is not a setting and has no effect. Did you mean COATCHECK_PORT?",
            "COATCHECK_DATABASE_URI is not a setting and has no effect. Did you mean"
                + " COATCHECK_DATABASE_URL?",
            "COATCHECK_PROT is not a setting and has no effect. Did you mean COATCHECK_PORT?");
  }

  @Test
  void settingsAndWhatOthersReadAreNot() {
    assertThat(
            UnknownVariables.named(
                List.of(
                    "COATCHECK_PORT",
                    "COATCHECK_URL",
                    "COATCHECK_KEY_FILE",
                    "COATCHECK_JAVA_OPTS",
                    "COATCHECK_AOT",
                    "COATCHECK_TEST_HOST",
                    "COATCHECK_SOURCE_SHOP_URL",
                    "COATCHECK_SOMETHING_ELSE")))
        .isEmpty();
  }
}
