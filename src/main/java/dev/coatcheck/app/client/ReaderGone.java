package dev.coatcheck.app.client;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Standard output takes no more. Where it is a pipe its reader has ended, as {@code head} does: the
 * command ends without a word, as by SIGPIPE. Elsewhere it is a disk that is full.
 */
public final class ReaderGone extends CommandFailed {
  private static final long serialVersionUID = 1L;
  private static final int KIND = 0xF000;
  private static final int PIPE = 0x1000;
  private static final int SOCKET = 0xC000;

  ReaderGone() {
    super("standard output can't be written. Is the disk full?");
  }

  /** Whether nobody is there to be told. */
  public static boolean isQuiet() {
    try {
      int kind = (Integer) Files.getAttribute(Path.of("/dev/stdout"), "unix:mode") & KIND;
      return kind == PIPE || kind == SOCKET;
    } catch (IOException | UnsupportedOperationException unknown) {
      return false;
    }
  }
}
