package dev.coatcheck.app.cli.migrate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.app.cli.Terminal;
import dev.coatcheck.postgres.sql.TestDatabase;
import dev.coatcheck.postgres.sql.TestSql;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Carries out {@code docs/runbook.md} from its top to its end, on a database of its own: the blocks
 * of SQL as the application, the shell blocks as the DBA, whose commands print what the page shows.
 * Only numbers may differ: the tables have a tenth of the rows.
 */
@Timeout(600)
class RunbookTest {
  private static final String FENCE = "```";
  private static final Pattern NUMBER = Pattern.compile("[0-9][0-9,.:]*");
  private static final Pattern WORD = Pattern.compile("'([^']*)'|(\\S+)");

  private static final TestDatabase SHOP = TestDatabase.empty();

  @TempDir static Path folder;
  private static Dba dba;

  private record Block(String language, List<String> lines) {}

  @BeforeAll
  static void open() throws Exception {
    Map<String, String> source =
        Map.of(
            "COATCHECK_SOURCE_SHOP_URL", SHOP.url(),
            "COATCHECK_SOURCE_SHOP_USER", SHOP.user(),
            "COATCHECK_SOURCE_SHOP_PASSWORD", SHOP.password());
    dba = Dba.at(TestDatabase.fresh(), source, folder);
  }

  @AfterAll
  static void close() {
    dba.close();
  }

  @Test
  @Tag("faults")
  void thePageIsCarriedOut() throws Exception {
    TestSql shop = SHOP.sql().inPublic();
    List<Block> blocks = blocks(Files.readAllLines(Path.of("docs/runbook.md")));
    List<String> printed = new ArrayList<>();
    List<String> shown = new ArrayList<>();
    for (int i = 0; i < blocks.size(); i++) {
      Block block = blocks.get(i);
      switch (block.language()) {
        case "sql" -> shop.execute(statements(block));
        case "sh" -> {
          String output = run(block);
          if (i + 1 < blocks.size() && blocks.get(i + 1).language().equals("text")) {
            printed.add(shape(output));
            shown.add(shape(String.join("\n", blocks.get(i + 1).lines()) + "\n"));
          }
        }
        default -> {}
      }
    }

    assertThat(shown).hasSizeGreaterThan(4);
    assertThat(printed).containsExactlyElementsOf(shown);
    assertThat(
            shop.texts(
                "select pg_get_constraintdef(oid) from pg_constraint where contype = 'p'"
                    + " and conrelid = 'customer'::regclass"))
        .containsExactly("PRIMARY KEY (snowflake_id)");
    assertThat(
            shop.number(
                "select count(*) from rental r join customer c"
                    + " on c.snowflake_id = r.customer_id_snowflake_id"))
        .isEqualTo(shop.number("select count(*) from rental"));
    assertThat(dba.followed("/legacy/customer/7"))
        .startsWith("https://films.example/customers/cus_");
  }

  private static List<Block> blocks(List<String> lines) {
    List<Block> blocks = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).startsWith(FENCE)) {
        String language = lines.get(i).substring(FENCE.length());
        int end = i + 1 + lines.subList(i + 1, lines.size()).indexOf(FENCE);
        blocks.add(new Block(language, lines.subList(i + 1, end)));
        i = end;
      }
    }
    return blocks;
  }

  private static String[] statements(Block block) {
    String tenth = String.join("\n", block.lines()).replaceAll("([26])0000", "$1000");
    return Stream.of(tenth.split(";(\n|$)", -1))
        .map(String::strip)
        .filter(statement -> !statement.isEmpty())
        .toArray(String[]::new);
  }

  /** Prints what all commands of a block print. */
  private static String run(Block block) {
    StringBuilder output = new StringBuilder();
    for (String line : String.join("\n", block.lines()).replace("\\\n", " ").split("\n", -1)) {
      List<String> words =
          WORD.matcher(line)
              .results()
              .map(word -> word.group(1) == null ? word.group(2) : word.group(1))
              .toList();
      assertThat(words.getFirst()).isEqualTo("coatcheck");
      Terminal done = dba.send(opened(words.subList(1, words.size())));
      assertThat(done.status()).as("%s: %s", line, done.err()).isZero();
      output.append(done.out());
    }
    return output.toString();
  }

  /** The time window of the page, as it would be in the night for which the page was written. */
  private static List<String> opened(List<String> words) {
    List<String> opened = new ArrayList<>(words);
    for (int i = 1; i < words.size(); i++) {
      switch (words.get(i - 1)) {
        case "--not-before" -> opened.set(i, "2026-01-01T00:00:00Z");
        case "--not-after" -> opened.set(i, "2999-01-01T00:00:00Z");
        default -> {}
      }
    }
    return opened;
  }

  private static String shape(String output) {
    return NUMBER
        .matcher(output)
        .replaceAll("0")
        .replaceAll("\\b0 (min|h|s)\\b", "0 s")
        .replaceAll("\\b0 (bytes|KiB|MiB)\\b", "0 bytes");
  }
}
