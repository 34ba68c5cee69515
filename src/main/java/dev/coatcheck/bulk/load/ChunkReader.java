package dev.coatcheck.bulk.load;

import dev.coatcheck.bulk.rows.RowFault;
import dev.coatcheck.bulk.rows.RowFile;
import dev.coatcheck.bulk.rows.RowText;
import java.io.IOException;

/** Reads a file chunk by chunk. */
final class ChunkReader {
  /** Rows between two calls of {@link Thread#yield()}: about half a millisecond. */
  private static final int ROWS_A_TURN = 256;

  private final RowFile file;
  private final RowParser parser;
  private final RowText text = new RowText();

  ChunkReader(RowFile file, RowParser parser) {
    this.file = file;
    this.parser = parser;
  }

  /**
   * The next rows; none if there are no more.
   *
   * @throws IOException if the stream broke off: these rows are not to be used
   */
  @SuppressWarnings("ThreadPriorityCheck") // a virtual thread is never made to wait by others
  Chunk next() throws IOException {
    Chunk chunk = new Chunk();
    while (!chunk.isFull() && file.next()) {
      RowFault fault = file.read(text);
      if (fault == null) {
        switch (parser.parse(file.line(), text)) {
          case RowParser.Parsed.Sound(ImportRow row) -> chunk.add(row);
          case RowParser.Parsed.Refused(RowFault refused) -> chunk.refuse(file.line(), refused);
        }
      } else {
        chunk.refuse(file.line(), fault);
      }
      if (chunk.size() % ROWS_A_TURN == 0) {
        Thread.yield();
      }
    }
    return chunk;
  }
}
