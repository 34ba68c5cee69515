package dev.coatcheck.bulk.rows;

import static dev.coatcheck.FuzzTexts.requireSame;

import dev.coatcheck.FuzzTexts;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;

/** Files of rows, and the times in them. */
public final class RowFuzz {
  private RowFuzz() {}

  /** By the name that Jazzer calls. */
  public static void fuzzerTestOneInput(byte[] bytes) throws IOException {
    for (RowFormat format : RowFormat.values()) {
      read(format, bytes);
    }
    Timestamps.parse(new String(bytes, StandardCharsets.UTF_8))
        .ifPresent(
            time -> {
              long micros = Timestamps.micros(time);
              requireSame(
                  micros,
                  Timestamps.micros(Timestamps.parse(Timestamps.text(micros)).orElseThrow()));
            });
  }

  private static void read(RowFormat format, byte[] bytes) throws IOException {
    if (RowFile.open(format, new ByteArrayInputStream(bytes), Set.of())
        instanceof RowFile.Opened.Sound(RowFile file)) {
      RowText row = new RowText();
      long line = 0;
      while (file.next()) {
        var _ = file.read(row);
        if (file.line() <= line) {
          throw new AssertionError("line " + file.line() + " comes after line " + line);
        }
        line = file.line();
      }
    }
  }

  /** Writes texts to begin with into the folder of the argument. */
  public static void main(String[] arguments) throws IOException {
    FuzzTexts.write(
        arguments[0],
        "type,key,legacy_id,created_at\ncharge,1,2,2020-02-03T04:05:06.789Z\r\n\"a\"\"b\",,\n",
        "key\n\"1\n",
        "{\"type\":\"charge\",\"key\":1}\n\n{\"key\":\"\\u0031\",\"created_at\":null}\n",
        "{\"key\":[{}]}",
        "2020-02-03 09:50:06.789+05:45",
        "2020-02-03T04:05:06Z",
        "0000-01-01T00:00:00+18:00",
        "+999999999-12-31T00:00:00Z");
  }
}
