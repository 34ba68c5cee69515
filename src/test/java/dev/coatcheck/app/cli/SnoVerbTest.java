package dev.coatcheck.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.scheme.SnoId;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code coatcheck keys sno}. */
class SnoVerbTest {
  @TempDir private Path folder;

  @Test
  void eachCallGoesOnWhereTheLastOneEnded() {
    List<SnoId> made = new ArrayList<>();
    for (int call = 0; call < 3; call++) {
      Terminal done = sno("--partition=9", "--sequences=100-199", "--metabyte=7", "--count=500");
      assertThat(done.status()).isZero();
      done.lines().forEach(line -> made.add(SnoId.parse(line).orElseThrow()));
    }

    assertThat(made).hasSize(1_500).doesNotHaveDuplicates();
    assertThat(made)
        .allMatch(
            id ->
                id.partition() == 9
                    && id.metabyte() == 7
                    && id.sequence() >= 100
                    && id.sequence() <= 199);
  }

  @Test
  void theStateIsSavedBeforeAnythingIsPrinted() throws IOException {
    String first = sno("--partition=9").lines().getFirst();

    assertThat(Files.readString(state()))
        .startsWith("partition=9 sequences=0-65535 tick=")
        .contains(" sequence=" + SnoId.parse(first).orElseThrow().sequence() + " ");
  }

  @Test
  void aStateHasOneUserAtATime() throws IOException {
    try (FileChannel file =
            FileChannel.open(state(), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock _ = file.lock()) {
      assertThat(sno().status()).isEqualTo(1);
      assertThat(sno().err()).contains("another command uses the state");
    }
  }

  @Test
  void whatIsNoStateIsLeftAlone() throws IOException {
    Files.writeString(state(), "precious\n");

    Terminal refused = sno();

    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err()).contains("is no state of snos. Name another file.");
    assertThat(Files.readString(state())).isEqualTo("precious\n");
  }

  @ParameterizedTest
  @CsvSource({
    "--partition=65536, --partition must be 0 to 65535.",
    "--partition=-1, --partition must be 0 to 65535.",
    "--sequences=0-2, and have 4 numbers at least.",
    "--sequences=9, and have 4 numbers at least.",
    "--sequences=0-65536, within 0-65535",
    "--metabyte=256, --metabyte must be 0 to 255.",
    "--count=0, --count must be 1 to 1000000."
  })
  void whatIsOutOfRangeIsRefused(String flag, String message) {
    Terminal refused = sno(flag);

    assertThat(refused.status()).isEqualTo(2);
    assertThat(refused.err()).contains(message);
  }

  private Path state() {
    return folder.resolve("state");
  }

  private Terminal sno(String... flags) {
    return Terminal.run(
        Stream.concat(Stream.of("keys", "sno", "--state=" + state()), Arrays.stream(flags))
            .toArray(String[]::new));
  }
}
