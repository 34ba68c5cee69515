package dev.coatcheck.cluster.change;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class PassedOverTest {
  @Test
  void everyReasonIsDocumented() throws IOException {
    String page = Files.readString(Path.of("docs/operations.md"));

    for (PassedOver reason : PassedOver.values()) {
      assertThat(page).contains("\n| `" + reason.wireName() + "` | ");
    }
  }
}
