package dev.coatcheck.spring.starters;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.spring.CoatcheckProperties;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** The settings, as editors complete them and as logs show them. */
class SettingsTest {
  @Test
  void editorsKnowEachSetting() throws IOException {
    StringBuilder metadata = new StringBuilder();
    for (URL file :
        Collections.list(
            CoatcheckProperties.class
                .getClassLoader()
                .getResources("META-INF/spring-configuration-metadata.json"))) {
      try (InputStream bytes = file.openStream()) {
        metadata.append(new String(bytes.readAllBytes(), StandardCharsets.UTF_8));
      }
    }

    for (RecordComponent setting : CoatcheckProperties.class.getRecordComponents()) {
      String name = setting.getName().replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
      assertThat(metadata).contains("\"coatcheck." + name + "\"");
    }
  }

  @Test
  void theTextOfTheSettingsHasNoApiKey() {
    CoatcheckProperties settings =
        new CoatcheckProperties(
            URI.create("http://127.0.0.1:8080"),
            "of-the-settings",
            Duration.ofSeconds(10),
            0,
            CoatcheckProperties.WrongType.BAD_REQUEST,
            CoatcheckProperties.Keys.LOOK_UP);

    assertThat(settings.toString()).contains("127.0.0.1").doesNotContain("of-the-settings");
  }
}
