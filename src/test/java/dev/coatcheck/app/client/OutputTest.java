package dev.coatcheck.app.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Rows and fields as verbs print them. */
class OutputTest {
  @Test
  void aTableIsAlignedAndHasItsHeadersOnce() {
    Output output = new Output();

    assertThat(
            output.table(
                List.of("name", "prefix", "key"),
                List.of(List.of("charge", "ch", "bigint"), List.of("a", "", "uuid"))))
        .isEqualTo("name    prefix  key\ncharge  ch      bigint\na               uuid\n");
    assertThat(output.table(List.of("name", "prefix", "key"), List.of(List.of("b", "bb", ""))))
        .isEqualTo("b       bb\n");
  }

  @Test
  void whatAStrangerWroteCantMoveTheCursor() {
    assertThat(
            new Output().table(List.of("reason"), List.of(List.of("a\u001b[2Jb"), List.of("c\nd"))))
        .isEqualTo("reason\na [2Jb\nc d\n");
  }

  @Test
  void aCellIsQuotedWhereCsvNeedsIt() {
    assertThat(Output.csv(List.of("plain text", "a,b", "say \"hi\"", "two\nlines", "")))
        .isEqualTo("plain text,\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",");
  }

  @Test
  void theFieldsWithinFieldsHaveDottedNamesAndWhatIsEmptyHasNone() {
    assertThat(
            Output.flat(
                Output.object(
                    Map.of("a", Map.of("b", 1, "c", Map.of("d", true)), "e", List.of("x", "y")))))
        .isEqualTo(Map.of("a.b", List.of("1"), "a.c.d", List.of("true"), "e", List.of("x", "y")));
    assertThat(Output.flat(Output.object(Map.of("none", List.of(), "legacy", Map.of())))).isEmpty();
  }
}
