package dev.coatcheck.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.scheme.SnoId;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code coatcheck keys sno}. */
class SnoVerbTest {
  private static final String AT = "2024-06-30T12:00:00Z";

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

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --partition=8      | is of partition 9. Leave --partition out
          --sequences=0-99   | has the sequence numbers 100-199. Leave --sequences out
          --at=%s            | is for the present. Leave --at out
          """)
  void aFlagThatContradictsTheStateIsAnErrorAndNothingIsMade(String flag, String message)
      throws IOException {
    assertThat(sno("--partition=9", "--sequences=100-199").status()).isZero();
    String before = Files.readString(state());

    assertFails(sno(flag.replace("%s", AT)), message);
    assertThat(Files.readString(state())).isEqualTo(before);
    assertThat(sno("--partition=9", "--sequences=100-199").status()).isZero();
    assertThat(sno().status()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ''                                                                                    | is empty.
          partition=70000 sequences=0-3 tick=5 sequence=2 tock=false used_up_to=-1 steps_back=0 | is no state of snos
          partition=9 sequences=0-3 tick=999999999999 sequence=2 tock=false used_up_to=-1 steps_back=0 | is no state of snos
          partition=9 sequences=0-3 given_times                                                 | is for given times. Add --at
          partition=9 sequences=0-3 tick=5                                                      | is no state of snos
          """)
  void aBrokenStateIsOneLineAndNothingIsMade(String content, String message) throws IOException {
    String before = content.isEmpty() ? "" : content + "\n";
    Files.writeString(state(), before);

    assertFails(sno(), message);
    assertThat(Files.readString(state())).isEqualTo(before);
  }

  /** As a command leaves it that was killed while it made the file. */
  @ParameterizedTest
  @ValueSource(strings = {"partition=9", "partition=9 sequences=0-3 given_times", "\u0000\u00ff"})
  void aStateWithoutACompleteLineIsOneLine(String content) throws IOException {
    Files.writeString(state(), content);

    assertFails(sno(), "is no state of snos");
    assertFails(sno("--at=" + AT), "is no state of snos");
  }

  @Test
  void whatCannotBeAFileIsOneLine() throws IOException {
    Files.createDirectory(folder.resolve("state"));
    assertFails(sno(), "Name a file that you can read and write.");
    Files.delete(state());
    assertFails(
        Terminal.run("keys", "sno", "--state=" + state().resolve("deeper")),
        "doesn't exist. Make it, or name another file.");
    assertThat(sno("--partition=65536").status()).isEqualTo(2);
    assertThat(state()).doesNotExist();
  }

  private static void assertFails(Terminal refused, String message) {
    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.out()).isEmpty();
    assertThat(refused.err().lines()).singleElement().asString().contains(message);
  }

  @Test
  void statesOfOneFolderShareNoSequenceNumberOfAPartition() throws IOException {
    assertThat(sno("--partition=9", "--sequences=100-199").status()).isZero();
    Path other = folder.resolve("other");
    String[] overlapping = {
      "keys", "sno", "--state=" + other, "--partition=9", "--sequences=199-300"
    };

    assertFails(Terminal.run(overlapping), "state has sequence numbers of partition=9");
    assertFails(with(overlapping, "--at=" + AT), "state has sequence numbers of partition=9");
    assertThat(other).doesNotExist();
    overlapping[4] = "--sequences=200-300";
    assertThat(Terminal.run(overlapping).status()).isZero();
    Files.copy(state(), folder.resolve("copy"));
    assertFails(sno(), "copy has sequence numbers");
  }

  private static Terminal with(String[] arguments, String more) {
    return Terminal.run(
        Stream.concat(Arrays.stream(arguments), Stream.of(more)).toArray(String[]::new));
  }

  @Test
  void snosOfAGivenTimeAreUniqueInWhateverOrderTheTimesCome() throws IOException {
    List<SnoId> made = new ArrayList<>();
    for (String at : List.of(AT, "2024-06-30T12:00:00.004Z", "2011-01-01T00:00:00Z", AT, AT)) {
      Terminal done = sno("--at=" + at, "--partition=9", "--sequences=0-9", "--count=25");
      assertThat(done.status()).as(done.err()).isZero();
      List<SnoId> snos = done.lines().stream().map(id -> SnoId.parse(id).orElseThrow()).toList();
      assertThat(snos)
          .allMatch(
              id ->
                  id.partition() == 9
                      && id.sequence() < 10
                      && !id.time().isBefore(Instant.parse(at))
                      && id.time().isBefore(Instant.parse(at).plusMillis(80)));
      made.addAll(snos);
      // A command that was killed while it wrote leaves a line without an end.
      Files.writeString(state(), "tick=" + "0".repeat(900), StandardOpenOption.APPEND);
    }

    assertThat(made).hasSize(125).doesNotHaveDuplicates();
    assertThat(made.getFirst().time()).isEqualTo(Instant.parse(AT));
    assertFails(sno(), "is for given times. Add --at");
    assertThat(sno("--at=2009-01-01T00:00:00Z").status()).isEqualTo(2);
    assertThat(sno("--at=2079-01-01T00:00:00Z").status()).isEqualTo(2);
  }

  @Test
  void eachFullTickIsALineOnStandardErrorWhereAskedFor() {
    Terminal done = sno("--sequences=0-3", "--count=12", "--overflow-notices");

    assertThat(done.lines()).hasSize(12);
    assertThat(done.err().lines().toList())
        .hasSizeBetween(1, 2)
        .allMatch(line -> line.matches("20\\S+Z waiting=[48] full_ticks=[12]"));
    assertThat(sno("--count=12").err()).isEmpty();
  }

  @Test
  void theFieldsOfASnoChangeOnDemand() {
    SnoId id = SnoId.parse(sno("--partition=9").lines().getFirst()).orElseThrow();

    assertThat(Terminal.run("inspect", "--set=metabyte=7,partition=70", id.toString()))
        .isEqualTo(new Terminal(0, id.withMetabyte(7).withPartition(70) + "\n", ""));
    assertFails(Terminal.run("inspect", "--set=metabyte=7", "abc"), "abc is no sno");
    for (String bad : List.of("metabyte=256", "tick=1", "partition=-1", "partition")) {
      assertThat(Terminal.run("inspect", "--set=" + bad, id.toString()).status())
          .as(bad)
          .isEqualTo(2);
    }
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
