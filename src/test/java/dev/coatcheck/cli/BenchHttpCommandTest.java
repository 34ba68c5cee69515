package dev.coatcheck.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.db.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** {@code coatcheck bench http}: that it measures, not what. */
class BenchHttpCommandTest {
  private static final Pattern ROW =
      Pattern.compile(
          "(P\\d) +\\S.*? {2,}([\\d.,]+) {2,}(\\S.*?) {2,}([\\d.,]+) .* ([\\d.]+) +"
              + "(>=|<=) [\\d.]+ +(met|missed)");

  private static Terminal bench(TestDatabase database, String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "bench",
                "http",
                "--seconds=0.05",
                "--rounds=1",
                "--rows=1000",
                "--database-url=" + database.url(),
                "--database-user=" + database.user(),
                "--database-password=" + database.password()));
    arguments.addAll(List.of(more));
    return Terminal.run(arguments.toArray(String[]::new));
  }

  @Test
  void everyMeasureHasARatioAndADatabaseThatIsInUseIsLeftAlone() {
    TestDatabase database = TestDatabase.empty();

    Terminal first = bench(database);

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
        .isEqualTo(
            new Terminal(1, "", "coatcheck: the database holds mappings. Give an empty one.\n"));
  }

  @Test
  void someMeasuresAreEnough() {
    Terminal some = bench(TestDatabase.empty(), "--only=P8,P2");

    assertThat(some.lines().stream().filter(line -> line.startsWith("P")))
        .as(some.err())
        .hasSize(2)
        .satisfiesExactly(
            line -> assertThat(line).startsWith("P2 "), line -> assertThat(line).startsWith("P8 "));
  }

  @Test
  void whatMakesNoSenseIsRefusedBeforeAnythingStarts() {
    for (String odd : List.of("--seconds=0", "--seconds=NaN", "--rounds=0", "--rows=999")) {
      assertThat(Terminal.run("bench", "http", odd))
          .isEqualTo(
              new Terminal(
                  1,
                  "",
                  "coatcheck: --seconds must be 0.05 to 60, --rounds 1 to 100, --rows 1000 to"
                      + " 10000000.\n"));
    }
    assertThat(Terminal.run("bench", "http", "--only=P9").status()).isEqualTo(2);
  }

  private static double figure(String text) {
    return Double.parseDouble(text.replace(",", ""));
  }
}
