package dev.coatcheck.bulk.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RowFileTest {
  private static final Set<Column> TYPE = Set.of(Column.TYPE);

  private static final String HEADER = "type,key\n";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "type,key\na,1\nb,2\n",
        "type,key\na,1\nb,2",
        "type,key\r\na,1\r\nb,2\r\n",
        "\uFEFFtype,key\n\n\na,1\n\r\nb,2\n\n",
        "\"type\",\"key\"\n\"a\",\"1\"\n\"b\",2\n",
        "key,type\n1,a\n2,b\n"
      })
  void aLineIsARow(String file) throws IOException {
    assertThat(rows(RowFormat.CSV, file)).containsExactly("a/1", "b/2");
  }

  @Test
  void chunksOfTheStreamDoNotMatter() throws IOException {
    StringBuilder file = new StringBuilder(HEADER);
    List<String> expected = new ArrayList<>();
    for (int i = 0; i < 30_000; i++) {
      file.append("a,").append(i).append(i % 3 == 0 ? "\r\n" : "\n");
      expected.add("a/" + i);
    }
    byte[] bytes = file.toString().getBytes(StandardCharsets.UTF_8);
    InputStream trickle =
        new ByteArrayInputStream(bytes) {
          private int turn;

          @Override
          public synchronized int read(byte[] into, int offset, int length) {
            turn++;
            return super.read(into, offset, Math.min(length, 1 + turn % 977));
          }
        };

    assertThat(rows(RowFormat.CSV, trickle)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"a,1", "a\"b,1", "\"a\"b,1", "a", "a,1,2", "a,\"1\" ", "\"a,1\nb,2"})
  void aBadLineCostsOneRow(String bad) throws IOException {
    assertThat(rows(RowFormat.CSV, HEADER + bad.lines().findFirst().orElseThrow() + "\nc,3\n"))
        .containsExactly("ROW_MALFORMED at 2", "c/3");
  }

  @Test
  void aLineThatIsTooLongCostsOneRow() throws IOException {
    String fits = "a," + "1".repeat(Lines.BYTES_MAX - 2);

    assertThat(
            rows(
                RowFormat.CSV,
                HEADER + fits + "\n" + fits + "1\r\n" + "x".repeat(300_000) + "\nc,3"))
        .containsExactly(fits.replace(',', '/'), "LINE_TOO_LONG at 3", "LINE_TOO_LONG at 4", "c/3");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"type\":\"a\",\"key\":\"1\"}|a/1",
        " { \"key\" : \"1\" , \"type\" : \"\\u0061\" } |a/1",
        "{\"type\":\"a\",\"key\":null}|a/null",
        "{\"type\":\"a\",\"key\":1}|ROW_MALFORMED at 1",
        "{\"type\":\"a\",\"key\":[\"1\"]}|ROW_MALFORMED at 1",
        "{\"type\":\"a\",\"key\":{\"key\":\"1\"}}|ROW_MALFORMED at 1",
        "{\"type\":\"a\",\"type\":\"b\"}|ROW_MALFORMED at 1",
        "{\"type\":\"a\"} {}|ROW_MALFORMED at 1",
        "{\"type\":\"a\"|ROW_MALFORMED at 1",
        "[\"a\",\"1\"]|ROW_MALFORMED at 1",
        "null|ROW_MALFORMED at 1",
        "{\"type\":\"a\",\"id\":\"1\"}|FIELD_UNKNOWN at 1",
      })
  void anObjectIsARow(String line, String expected) throws IOException {
    assertThat(rows(RowFormat.NDJSON, line + "\n")).containsExactly(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "charge,1\n",
        "type,id\n",
        "type,key,key\n",
        "key\n",
        "type,created_at\n",
        "type,\"key\n",
        "Type,Key\n",
        "type;key\n",
        "{\"type\":\"charge\",\"key\":\"1\"}\n",
        "t\0y\0p\0e\0"
      })
  void aHeaderThatNamesNoColumnsIsRefused(String file) throws IOException {
    assertThat(RowFile.open(RowFormat.CSV, stream(file), TYPE))
        .isInstanceOf(RowFile.Opened.Refused.class);
  }

  @Test
  void unknownColumnsAreCountedAndNotRepeated() throws IOException {
    assertThat(RowFile.open(RowFormat.CSV, stream("type,key,id,<script>\n"), TYPE))
        .isEqualTo(
            new RowFile.Opened.Refused(
                "The first line names the columns, of type, key, legacy_id, created_at, public_id,"
                    + " client_id, client_namespace and client_principal. Unknown: columns 3, 4."));
  }

  @Test
  void linesThatEndWithCarriageReturnsAreRefusedAndNotRepeated() throws IOException {
    assertThat(RowFile.open(RowFormat.CSV, stream("type,key\rcharge,7827192329\r"), TYPE))
        .isEqualTo(
            new RowFile.Opened.Refused(
                "The lines of a CSV file end with LF or CRLF; those of this one with CR."));
  }

  private static InputStream stream(String text) {
    return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
  }

  private static List<String> rows(RowFormat format, String file) throws IOException {
    return rows(format, stream(file));
  }

  private static List<String> rows(RowFormat format, InputStream stream) throws IOException {
    RowFile file = ((RowFile.Opened.Sound) RowFile.open(format, stream, TYPE)).file();
    List<String> rows = new ArrayList<>();
    RowText text = new RowText();
    while (file.next()) {
      RowFault fault = file.read(text);
      rows.add(
          fault == null
              ? text.get(Column.TYPE) + "/" + text.get(Column.KEY)
              : fault + " at " + file.line());
    }
    return rows;
  }
}
