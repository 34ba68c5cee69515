package dev.coatcheck.migrate.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.key.SnowflakeLayout;
import dev.coatcheck.core.key.WorkerUses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The statements for customers' databases. */
class SqlTemplateTest {
  private static final Path FILES = Path.of("src/main/resources/dev/coatcheck/migrate");
  private static final TableName HOSTILE =
      new TableName("public", "or\"ders' <id> \\ $coatcheck$ ?");

  private final TargetSql names =
      new TargetSql(
          new Target(
              UUID.randomUUID(),
              HOSTILE,
              1,
              "id",
              "bigint",
              Optional.empty(),
              new Target.Anchors(HOSTILE, 1, 0),
              SearchPath.USUAL,
              List.of()));

  @Test
  void aNameIsQuotedAndNothingInItIsTakenForAPlaceholder() {
    assertThat(names.fill("select from <table>"))
        .isEqualTo("select from \"public\".\"or\"\"ders' <id> \\ $coatcheck$ ?\"");
    assertThat(names.fill("select <'first_name'>"))
        .isEqualTo("select  E'or\"ders'' <id> \\\\ $coatcheck$ ?'");
  }

  @Test
  void noNameEndsTheBodyOfAFunction() {
    assertThat(names.fill("do <body> perform <table> <body>"))
        .startsWith("do $coatcheck1$ ")
        .endsWith(" $coatcheck1$");
  }

  @Test
  void aNameThatNobodyKnowsIsAMistakeOfOurs() {
    assertThatThrownBy(() -> names.fill("select <nothing>")).hasMessageContaining("<nothing>");
  }

  @Test
  void keysAreDividedInSqlAsInJava() {
    long key = SnowflakeLayout.DEFAULT.key(5L << 12 | 7, WorkerUses.BACKFILL);

    assertThat(
            names.fill(
                "5 << <time_shift> | <backfill_worker> << <sequence_bits> | (7 & <sequence_mask>)"))
        .isEqualTo("5 << 22 | 1022 << 12 | (7 & 4095)");
    assertThat(key).isEqualTo(5L << 22 | 1022 << 12 | 7);
  }

  @Test
  void everyFileSaysWhichLocksItTakes() throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(FILES)) {
      files = all.filter(path -> path.toString().endsWith(".sql")).toList();
    }
    assertThat(files).isNotEmpty();
    assertThat(files)
        .allSatisfy(
            file -> {
              List<String> top =
                  Files.readAllLines(file).stream()
                      .takeWhile(line -> line.startsWith("--"))
                      .toList();
              assertThat(top).anyMatch(line -> line.startsWith("-- Locks: "));
            });
  }

  @Test
  void everyFileIsSent() throws IOException {
    String code;
    try (Stream<Path> all = Files.walk(Path.of("src/main/java/dev/coatcheck/migrate"))) {
      StringBuilder text = new StringBuilder();
      for (Path path : all.filter(Files::isRegularFile).toList()) {
        text.append(Files.readString(path));
      }
      code = text.toString();
    }
    try (Stream<Path> all = Files.walk(FILES)) {
      assertThat(all.filter(Files::isRegularFile))
          .allSatisfy(file -> assertThat(code).contains('"' + file.getFileName().toString() + '"'));
    }
  }
}
