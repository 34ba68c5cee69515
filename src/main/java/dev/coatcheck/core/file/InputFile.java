package dev.coatcheck.core.file;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * A file that is read because a setting or an option names it. A named pipe in a folder is refused,
 * because it may wait for its writer for good; the pipe of {@code <(…)} is below /dev, and has its
 * writer. {@link FileWords} says why a reading failed.
 */
public final class InputFile {
  private InputFile() {}

  public static InputStream open(Path file) throws IOException {
    refusePipe(file, "");
    return Files.newInputStream(file);
  }

  /** All bytes of a file, which must not have more than so many. */
  public static byte[] read(Path file, int bytesMax) throws IOException {
    try (InputStream in = open(file)) {
      byte[] content = in.readNBytes(bytesMax + 1);
      if (content.length > bytesMax) {
        throw new IOException("it has more than " + bytesMax + " bytes.");
      }
      return content;
    }
  }

  /** Whether a path is {@code -}: standard input for the methods below, or standard output. */
  public static boolean isDash(Path file) {
    return file.toString().equals("-");
  }

  public static InputStream openOrStandardInput(Path file) throws IOException {
    if (isDash(file)) {
      return System.in;
    }
    refusePipe(file, " Name a file, or - for standard input.");
    return Files.newInputStream(file);
  }

  public static String textOrStandardInput(Path file) throws IOException {
    try (InputStream in = openOrStandardInput(file)) {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(in.readAllBytes()))
          .toString();
    }
  }

  private static void refusePipe(Path file, String instead) throws IOException {
    Path path = file.toAbsolutePath();
    if (!path.startsWith("/dev")
        && !path.startsWith("/proc")
        && Files.readAttributes(file, BasicFileAttributes.class).isOther()) {
      throw new IOException("it is a named pipe." + instead);
    }
  }
}
