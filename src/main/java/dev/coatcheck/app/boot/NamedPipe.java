package dev.coatcheck.app.boot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** A pipe with a name in a folder, which may wait for its writer for good. */
public final class NamedPipe {
  private NamedPipe() {}

  /** Whether a file is one. The pipe of {@code <(…)} is below /dev, and has its writer. */
  public static boolean isAt(Path file) {
    Path path = file.toAbsolutePath();
    try {
      return !path.startsWith("/dev")
          && !path.startsWith("/proc")
          && Files.readAttributes(file, BasicFileAttributes.class).isOther();
    } catch (IOException missing) {
      return false;
    }
  }

  /**
   * Refuses one.
   *
   * @throws IOException with what to do instead
   */
  public static void refuse(Path file) throws IOException {
    if (isAt(file)) {
      throw new IOException("it is a named pipe. Name a file, or - for standard input.");
    }
  }
}
