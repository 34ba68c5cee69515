package dev.coatcheck.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code coatcheck bench}: that it measures, not what. */
class BenchTest {
  private static final Pattern ROW =
      Pattern.compile(
          "(P\\d) +\\S.*? {2,}([\\d.,]+) {2,}(\\S.*?) {2,}([\\d.,]+) .* ([\\d.]+) +"
              + "(>=|<=) [\\d.]+ +(met|missed)");

  /** What the program printed, and how it ended. */
  private record Outcome(int status, String out, String err) {
    /** Runs what the launcher runs, with classes in place of the jar. */
    static Outcome of(String... arguments) {
      List<String> command =
          new ArrayList<>(
              List.of(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Dlogback.configurationFile=logback.xml",
                  "--enable-native-access=ALL-UNNAMED",
                  "-Dorg.jooq.no-logo=true",
                  "-Dorg.jooq.no-tips=true",
                  "-cp",
                  Path.of("target", "bench-classes")
                      + File.pathSeparator
                      + System.getProperty("java.class.path"),
                  "dev.coatcheck.bench.Bench"));
      command.addAll(List.of(arguments));
      try {
        Path err = Files.createTempFile("coatcheck-bench", ".err");
        Process process = new ProcessBuilder(command).redirectError(err.toFile()).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Outcome outcome = new Outcome(process.waitFor(), out, Files.readString(err));
        Files.delete(err);
        return outcome;
      } catch (IOException unexpected) {
        throw new UncheckedIOException(unexpected);
      } catch (InterruptedException interrupted) {
        throw new IllegalStateException(interrupted);
      }
    }

    List<String> lines() {
      return out.lines().toList();
    }
  }

  private static Outcome bench(TestDatabase database, String... more) {
    List<String> arguments =
        new ArrayList<>(List.of("bench", "http", "--seconds=0.05", "--rounds=1", "--rows=1000"));
    arguments.addAll(database.flags());
    arguments.addAll(List.of(more));
    return Outcome.of(arguments.toArray(String[]::new));
  }

  @Test
  void everyMeasureHasARatioAndADatabaseThatIsInUseIsLeftAlone() {
    TestDatabase database = TestDatabase.empty();

    Outcome first = bench(database);

    assertThat(first.status()).as(first.err()).isZero();
    assertThat(first.out()).contains("shared by generator, gateway and Postgres");
    List<Matcher> rows = first.lines().stream().map(ROW::matcher).filter(Matcher::matches).toList();
    assertThat(rows.stream().map(row -> row.group(1)))
        .as(first.out())
        .containsExactly("P1", "P2", "P3", "P4", "P5", "P8");
    assertThat(rows)
        .allSatisfy(
            row -> {
              assertThat(figure(row.group(2))).isPositive();
              assertThat(figure(row.group(4))).isPositive();
              assertThat(figure(row.group(5))).isNotNegative();
            });

    assertThat(bench(database))
        .satisfies(
            again -> {
              assertThat(again.status()).isOne();
              assertThat(again.err())
                  .endsWith("coatcheck: the database holds mappings. Give an empty one.\n");
            });
  }

  @Test
  void someMeasuresAreEnough() {
    Outcome some = bench(TestDatabase.empty(), "--only=P8,P2");

    assertThat(some.lines().stream().filter(line -> line.startsWith("P")))
        .as(some.err())
        .hasSize(2)
        .satisfiesExactly(
            line -> assertThat(line).startsWith("P2 "), line -> assertThat(line).startsWith("P8 "));
  }

  @Test
  void whatMakesNoSenseIsRefusedBeforeAnythingStarts() {
    for (String odd : List.of("--seconds=0", "--seconds=NaN", "--rounds=0", "--rows=999")) {
      assertThat(Outcome.of("bench", "http", odd))
          .isEqualTo(
              new Outcome(
                  1,
                  "",
                  "coatcheck: --seconds must be 0.05 to 60, --rounds 1 to 100, --connections 1 to"
                      + " 1024, --rows 1000 to 10000000.\n"));
    }
    assertThat(Outcome.of("bench", "http", "--only=P9").status()).isEqualTo(2);
  }

  @Test
  void jmhGetsItsOwnOptions() {
    Outcome listed = Outcome.of("bench", "micro", "-l");

    assertThat(listed.status()).as(listed.err()).isZero();
    assertThat(listed.out()).contains("PublicIdBenchmark.parse\n", "SnowflakeBenchmark.");
  }

  private static double figure(String text) {
    return Double.parseDouble(text.replace(",", ""));
  }
}
