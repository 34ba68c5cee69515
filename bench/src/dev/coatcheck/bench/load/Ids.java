package dev.coatcheck.bench.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/** The public IDs of a load, all of the same length, one after another. */
final class Ids {
  private static final Ids NONE = new Ids(new byte[0], 1);

  private final byte[] lines;

  /** Of an ID and its line feed. */
  private final int lineBytes;

  private Ids(byte[] lines, int lineBytes) {
    this.lines = lines;
    this.lineBytes = lineBytes;
  }

  static Ids read(Optional<Path> file) throws IOException {
    if (file.isEmpty()) {
      return NONE;
    }
    byte[] lines = Files.readAllBytes(file.get());
    int length = 0;
    while (lines[length] != '\n') {
      length++;
    }
    if (lines.length % (length + 1) != 0) {
      throw new IllegalArgumentException("The IDs in " + file.get() + " are not of one length.");
    }
    return new Ids(lines, length + 1);
  }

  int idBytes() {
    return lineBytes - 1;
  }

  /** Writes a random ID into a request. */
  void copyTo(byte[] request, int at) {
    if (lines.length > 0) {
      int line = ThreadLocalRandom.current().nextInt(lines.length / lineBytes);
      System.arraycopy(lines, line * lineBytes, request, at, idBytes());
    }
  }
}
