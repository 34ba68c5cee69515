package dev.coatcheck.core.name;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class WireNamedTest {
  private final Locale before = Locale.getDefault();

  private enum Phase implements WireNamed {
    INDEX,
    NOT_NULL
  }

  @AfterEach
  void resetLocale() {
    Locale.setDefault(before);
  }

  @Test
  void theWireNameIsTheNameInLowerCaseWhateverTheLocale() {
    Locale.setDefault(Locale.forLanguageTag("tr"));

    assertThat(Arrays.stream(Phase.values()).map(Phase::wireName))
        .containsExactly("index", "not_null");
  }

  @Test
  void onlyTheExactWireNameIsFound() {
    assertThat(WireNamed.find(Phase.class, "not_null")).contains(Phase.NOT_NULL);
    assertThat(WireNamed.find(Phase.class, "NOT_NULL")).isEmpty();
    assertThat(WireNamed.find(Phase.class, "not null")).isEmpty();
    assertThat(WireNamed.find(Phase.class, "")).isEmpty();
  }
}
