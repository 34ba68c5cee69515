package dev.coatcheck.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.coatcheck.bench.report.Report;
import dev.coatcheck.bench.report.Row;
import dev.coatcheck.bench.report.Samples;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code coatcheck bench}: that it measures, not what. */
class BenchTest {
  /** What the program printed, and how it ended. */
  private record Outcome(int status, String out, String err) {
    /** Runs what the launcher runs, with classes in place of the jar. */
    static Outcome of(String... arguments) {
      try {
        Path err = Files.createTempFile("coatcheck-bench", ".err");
        Process process = bench(List.of(), arguments).redirectError(err.toFile()).start();
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

    static ProcessBuilder bench(List<String> jvmOptions, String... arguments) {
      List<String> command =
          new ArrayList<>(
              List.of(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:+UseSerialGC",
                  "-XX:TieredStopAtLevel=1",
                  // What is printed has the same digits in every locale.
                  "-Duser.language=ar",
                  "-Duser.country=EG",
                  "-Dlogback.configurationFile=logback.xml",
                  "--enable-native-access=ALL-UNNAMED",
                  "-Dorg.jooq.no-logo=true",
                  "-Dorg.jooq.no-tips=true"));
      command.addAll(jvmOptions);
      command.addAll(
          List.of("-cp", System.getProperty("java.class.path"), "dev.coatcheck.bench.Bench"));
      command.addAll(List.of(arguments));
      return new ProcessBuilder(command);
    }

    List<String> lines() {
      return out.lines().toList();
    }
  }

  private static Outcome table(TestDatabase database, String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "bench",
                "table",
                "--seconds=1",
                "--rounds=1",
                "--warm-up=0",
                "--rows=1000",
                "--connections=4"));
    // An option is given once.
    for (String option : more) {
      arguments.removeIf(other -> other.split("=", -1)[0].equals(option.split("=", -1)[0]));
    }
    arguments.addAll(database.flags());
    arguments.addAll(List.of(more));
    return Outcome.of(arguments.toArray(String[]::new));
  }

  @Test
  @Tag("faults") // lasts over 20 s
  @Tag("alone")
  void everyMeasureHasItsRowsInTheTableAndInTheFile(@TempDir Path folder) throws IOException {
    TestDatabase database = TestDatabase.empty();

    assertThat(rows(database, folder))
        .extracting(Row::name)
        .contains("P1", "P1 p50", "P1 p99", "P2", "P2 p99", "P3", "P4", "P4 at 8", "P4 p99", "P5")
        .contains("P8 p50", "P8", "P18", "P18 wide", "P18 at 1")
        .doesNotContain("P6", "P7");
    Outcome again = table(database);
    assertThat(again.status()).isOne();
    assertThat(again.err())
        .endsWith("coatcheck bench table: the database holds mappings. Give an empty one.\n");
  }

  private static List<Row> rows(TestDatabase database, Path folder) throws IOException {
    Path file = folder.resolve("run.json");

    Outcome first = table(database, "--json=" + file, "--generator=OWN");

    assertThat(first.status()).as(first.err()).isZero();
    assertThat(first.out()).contains("shared by generator, gateway and Postgres");
    Report report = Report.read(file);
    assertThat(report.rows())
        .allSatisfy(
            row -> {
              assertThat(first.lines()).anyMatch(line -> line.startsWith(row.name() + " "));
              assertThat(row.measured().min()).isNotNegative();
            });
    assertThat(report.conditions()).containsEntry("connections", "4");
    return report.rows();
  }

  @Test
  @Tag("faults") // lasts over 20 s
  @Tag("alone")
  void someMeasuresAreEnoughAndAreComparedWithAnEarlierRun(@TempDir Path folder)
      throws IOException {
    Path file = folder.resolve("run.json");
    Outcome earlier = table(TestDatabase.empty(), "P5,P3", "--json=" + file, "--generator=OWN");
    assertThat(earlier.status()).as(earlier.err()).isZero();

    Outcome now =
        table(
            TestDatabase.empty(), "P3", "P5", "--compare=" + file, "--generator=OWN", "--rounds=2");

    assertThat(now.status()).as(now.err()).isZero();
    assertThat(now.out())
        .contains("Differs: rounds was 1 of 1 s, after 0 s of warm-up, is 2 of 1 s")
        .containsPattern("(?m)^P3 +uncached resolve +ratio ")
        .containsPattern("(?m)^P5 +batch mint of 1,000, 4 connections +ratio ")
        .doesNotContain("P1")
        .doesNotContain("P4");
  }

  @Test
  @Tag("faults") // lasts over 20 s
  @Tag("alone")
  void importsAndBackfillsTakeAPostgresOfTheirOwn() {
    Outcome outcome = Outcome.of("bench", "table", "P6,P7", "--rows=1000", "--rounds=1");

    assertThat(outcome.status()).as(outcome.err()).isZero();
    assertThat(outcome.out())
        .containsPattern("(?m)^P6 +CSV import of 1,000 rows ")
        .containsPattern("(?m)^P7 +backfill beside the mappings ")
        .containsPattern("(?m)^P7 apart +backfill, a source of its own ");
  }

  @Test
  @Tag("faults") // lasts over 20 s
  @Tag("alone")
  void whatAGatewayTakesIsMeasuredFromItsStartOn(@TempDir Path folder) throws IOException {
    Path picture = folder.resolve("table.svg");

    Outcome outcome =
        Outcome.of(
            "bench",
            "table",
            "P12,P13,P14,P20,P22,P23",
            "--rows=1000",
            "--rounds=1",
            "--seconds=1",
            "--svg=" + picture);

    assertThat(outcome.status()).as(outcome.err()).isZero();
    for (String row :
        List.of("P12 no cache", "P13", "P13 loaded", "P14", "P20", "P20 wait", "P22", "P23")) {
      assertThat(outcome.out()).containsPattern("(?m)^" + row + "  +\\S.* \\d");
      assertThat(Files.readString(picture)).contains(">" + row + "<");
    }
    assertThat(outcome.out())
        .contains("P12, P13 and P23 are without cache of classes")
        .containsPattern("(?m)^P20 .* <= 1.17 times +met$");
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void whatMakesNoSenseIsRefusedBeforeAnythingStarts(@TempDir Path folder) throws IOException {
    Path noReport = Files.writeString(folder.resolve("x.json"), "{}");
    Map<String, String> sentences =
        Map.of(
            "--seconds=0",
            "--seconds must be 1 to 60, not 0.",
            "--rounds=0",
            "--rounds must be 1 to 100, not 0.",
            "--rows=999",
            "--rows must be 1000 to 10000000, not 999.",
            "--warm-up=-1",
            "--warm-up must be 0 to 600, not -1.",
            "--connections=1025",
            "--connections must be 1 to 1024, not 1025.",
            "--compare=" + noReport,
            "--compare needs a file that --json has written, and " + noReport + " is none.",
            "--json=/no/such/folder/x",
            "--json can't write /no/such/folder/x: name a file in a folder that is there.",
            "--svg=/no/such/folder/x",
            "--svg can't write /no/such/folder/x: name a file in a folder that is there.");
    sentences.forEach(
        (option, sentence) ->
            assertThat(Outcome.of("bench", "table", option))
                .isEqualTo(new Outcome(2, "", "coatcheck bench table: " + sentence + "\n")));
    assertThat(Outcome.of("bench", "table", "P5,P6", "--connections=8", "--rounds=101").err())
        .isEqualTo(
            "coatcheck bench table: --rounds must be 1 to 100, not 101. --connections changes only"
                + " P1, P2, P3, P4, P8 and P18: leave it out.\n");
    assertThat(Outcome.of("bench", "table", "P6", "--database-url=jdbc:postgresql://h/d").err())
        .isEqualTo(
            "coatcheck bench table: Only P1 to P5, P8 and P18 can be taken on a given Postgres:"
                + " name those, or no database.\n");
    for (String odd : List.of("P15", "--seconds=0.5", "--generator=ab", "--database-url=x")) {
      assertThat(Outcome.of("bench", "table", odd).status()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "mapping-size, --rows=999",
    "import, --runs=0",
    "backfill, --runs=101",
    "growth, --from=999",
    "overload, --times=11",
    "picture, --svg=x.svg /no/such/run",
  })
  void whatIsOutOfRangeIsAWrongArgument(String verb, String arguments) {
    List<String> command = new ArrayList<>(List.of("bench", verb));
    command.addAll(List.of(arguments.split(" ", -1)));

    Outcome outcome = Outcome.of(command.toArray(String[]::new));

    assertThat(outcome.status()).as(outcome.err()).isEqualTo(2);
    assertThat(outcome.err()).startsWith("coatcheck bench " + verb + ": ").hasLineCount(1);
  }

  @Test
  @Tag("faults") // lasts over 20 s
  @Tag("alone")
  void anOverloadIsShownSecondBySecond() {
    Outcome outcome =
        Outcome.of("bench", "overload", "--seconds=4", "--warm-up=1", "--connections=50");

    assertThat(outcome.status()).as(outcome.err()).isZero();
    assertThat(outcome.out())
        .containsPattern("(?m)^second +sent +served +refused +broken +p99 ms +refusal ms +MB$")
        .containsPattern("(?m)^ +3 +\\d+ +\\d+ ")
        .containsPattern("(?m)^goodput ")
        .containsPattern("(?m)^recovery ");
    assertThat(Outcome.of("bench", "overload", "--times=0").err())
        .startsWith("coatcheck bench overload: --seconds must be 4 to 600, --times 1 to 10,");
  }

  /** While it runs a Postgres of its own, and a gateway with one. */
  @ParameterizedTest
  @Tag("faults") // ends processes
  @Tag("alone")
  @CsvSource({
    "'import --rows=10000000', home",
    "'table P13 --warm-up=600 --seconds=60', launched",
  })
  void sigtermLeavesNothing(String arguments, String home, @TempDir Path folder) throws Exception {
    Process bench =
        Outcome.bench(List.of("-Djava.io.tmpdir=" + folder), ("bench " + arguments).split(" ", -1))
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    List<ProcessHandle> children;
    try {
      Awaitility.await("its Postgres")
          .atMost(Duration.ofMinutes(2))
          .until(() -> programs(folder).count() > 3 && isReady(folder, home));
      children = Stream.concat(bench.descendants(), programs(folder)).toList();

      bench.destroy();

      assertThat(bench.waitFor()).isEqualTo(143);
    } finally {
      bench.destroyForcibly();
    }
    // Of a process that has ended, but that its parent hasn't asked about, the command is gone.
    assertThat(children).noneMatch(one -> one.info().command().isPresent());
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left.filter(one -> one.getFileName().toString().startsWith("coatcheck")))
          .isEmpty();
    }
  }

  private static boolean isReady(Path folder, String home) throws IOException {
    try (DirectoryStream<Path> runs = Files.newDirectoryStream(folder, "coatcheck-bench*")) {
      for (Path run : runs) {
        if (Files.exists(run.resolve(home).resolve("data/postmaster.pid"))) {
          return true;
        }
      }
      return false;
    }
  }

  private static Stream<ProcessHandle> programs(Path folder) {
    return ProcessHandle.allProcesses()
        .filter(
            one -> one.info().command().filter(name -> name.startsWith(folder + "/")).isPresent());
  }

  @Test
  @Tag("faults")
  @Tag("alone")
  void runsThatWereKeptAreDrawnTogether(@TempDir Path folder) throws IOException {
    Path first = folder.resolve("first.json");
    Path second = folder.resolve("second.json");
    new Report("then", Map.of(), List.of(), List.of(row("P22", 17), row("P14", 160))).write(first);
    new Report("now", Map.of(), List.of(), List.of(row("P22", 3), row("P9", 1))).write(second);
    Path picture = folder.resolve("table.svg");

    Outcome drawn = Outcome.of("bench", "picture", "" + first, "" + second, "--svg=" + picture);

    assertThat(drawn).isEqualTo(new Outcome(0, "", ""));
    assertThat(Files.readString(picture))
        .containsSubsequence(">P9<", ">1.00 ms<", ">P14<", ">160.0 ms<", ">P22<", ">3.00 ms<")
        .doesNotContain("17.0");
    assertThat(Outcome.of("bench", "picture", "" + picture, "--svg=" + picture).err())
        .isEqualTo(
            "coatcheck bench picture: "
                + picture
                + " is no file that bench table --json has written.\n");
  }

  private static Row row(String name, double figure) {
    return new Row(name, "", "ms", true, Samples.of(figure), Optional.empty(), Optional.empty());
  }

  @Test
  void jmhGetsItsOwnOptions() {
    assumeTrue(
        BenchTest.class.getResource("/META-INF/BenchmarkList") != null,
        "JMH's annotations are processed by Maven only");
    Outcome listed = Outcome.of("bench", "micro", "-l");

    assertThat(listed.status()).as(listed.err()).isZero();
    assertThat(listed.out()).contains("PublicIdBenchmark.parse\n", "SnowflakeBenchmark.");
  }
}
