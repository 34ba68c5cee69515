package dev.coatcheck.bench.growth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.app.boot.Config;
import dev.coatcheck.app.boot.Setting;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GrowthTest {
  @TempDir Path folder;

  @Test
  @Tag("faults") // lasts over 20 s
  @Tag("alone")
  void eachStorageIsMeasuredAtEachSizeAndDrawn() throws Exception {
    List<GrowthStep> steps = new ArrayList<>();
    for (Storage storage : Storage.values()) {
      if (Config.read(
              Map.of(),
              Map.of(Setting.HOME, folder.resolve(storage.name()).toString(), Setting.PORT, "0"))
          instanceof Config.Parsed.Valid(Config config)) {
        steps.addAll(Growth.measure(storage, config, folder, List.of(1_000L, 10_000L), _ -> {}));
      }
    }

    assertThat(steps).hasSize(2 * Storage.values().length);
    for (GrowthStep step : steps) {
      assertThat(step.mint().p50()).isPositive().isLessThanOrEqualTo(step.mint().p99());
      assertThat(step.resolve().p50()).isPositive().isLessThanOrEqualTo(step.resolve().p99());
    }
    assertThat(steps.get(1).bytesPerMapping()).isBetween(100.0, 250.0);
    assertThat(steps.getLast().storage()).isEqualTo(Storage.SEALED);
    assertThat(GrowthText.of(steps)).contains("P15").contains("| 0.0 |");
    assertThat(GrowthPicture.of(steps)).contains("class=\"partitioned\"").endsWith("</svg>\n");
  }
}
