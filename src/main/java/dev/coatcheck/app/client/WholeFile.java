package dev.coatcheck.app.client;

import dev.coatcheck.core.file.FileWords;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.util.concurrent.ThreadLocalRandom;

/** A file that appears, or changes, when it is complete. */
public final class WholeFile {
  private static final int BUFFER_BYTES = 16 * 1024;

  private WholeFile() {}

  /**
   * Writes a body, and makes the folder of the file. A link leads to the file that changes, which
   * keeps its permissions; a device or a pipe is written to.
   */
  public static void write(Path target, InputStream body) throws IOException {
    if (Files.exists(target) && !Files.isRegularFile(target)) {
      try (OutputStream out = Files.newOutputStream(target)) {
        copy(body, out, target);
      }
      return;
    }
    Path file = Files.exists(target) ? target.toRealPath() : target;
    Path folder = file.toAbsolutePath().getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    Path part = partBeside(file);
    part.toFile().deleteOnExit(); // a signal leaves out what follows
    try {
      try (OutputStream out = Files.newOutputStream(part, StandardOpenOption.CREATE_NEW)) {
        keepPermissions(file, part);
        copy(body, out, file);
      }
      Files.move(part, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  /** Tells a disk that is full, whose error names no file, from a body that broke off. */
  private static void copy(InputStream body, OutputStream out, Path file) throws IOException {
    byte[] some = new byte[BUFFER_BYTES];
    for (int count; (count = body.read(some)) >= 0; ) {
      try {
        out.write(some, 0, count);
      } catch (IOException full) {
        throw FileWords.named(file, full);
      }
    }
  }

  private static void keepPermissions(Path file, Path part) throws IOException {
    PosixFileAttributeView access = Files.getFileAttributeView(part, PosixFileAttributeView.class);
    if (access != null && Files.exists(file)) {
      access.setPermissions(Files.getPosixFilePermissions(file));
    }
  }

  /** A name of its own: another process may write the same file now. */
  private static Path partBeside(Path file) {
    String own = Long.toUnsignedString(ThreadLocalRandom.current().nextLong(), Character.MAX_RADIX);
    return file.resolveSibling(file.getFileName() + "." + own + ".part");
  }
}
