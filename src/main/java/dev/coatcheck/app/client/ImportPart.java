package dev.coatcheck.app.client;

import dev.coatcheck.bulk.rows.Lines;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The lines of a file in one request, after the header of the file if it has one. */
final class ImportPart {
  /** A multiple of the blocks within which a table migration judges times. */
  static final int LINES_MAX = 49_920;

  private static final int BYTES_MAX = 4 * 1024 * 1024;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(256 * 1024);
  private final List<Integer> starts = new ArrayList<>();
  private final int headerLines;
  private long end;

  private ImportPart(byte[] header) {
    headerLines = header.length == 0 ? 0 : 1;
    bytes.writeBytes(header);
  }

  /** Reads the next lines, including empty ones, which keeps line numbers right. */
  static ImportPart read(byte[] header, Lines lines) throws IOException {
    ImportPart part = new ImportPart(header);
    while (part.lines() < LINES_MAX && part.bytes.size() < BYTES_MAX && lines.next()) {
      part.starts.add(part.bytes.size());
      part.bytes.write(lines.bytes(), lines.from(), lines.to() - lines.from());
      part.bytes.write('\n');
    }
    part.end = lines.position();
    return part;
  }

  int lines() {
    return starts.size();
  }

  /** The position of the stream after the part. */
  long end() {
    return end;
  }

  byte[] body() {
    return bytes.toByteArray();
  }

  /** The index of a line in the part, from its number in the request. */
  int indexOf(int lineInRequest) {
    return lineInRequest - headerLines - 1;
  }

  /** The line including its end. */
  byte[] line(byte[] body, int index) {
    int to = index + 1 < starts.size() ? starts.get(index + 1) : body.length;
    return Arrays.copyOfRange(body, starts.get(index), to);
  }
}
