package dev.coatcheck.postgres.embedded;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.compressors.xz.XZCompressorInputStream;

/** Unpacks the archive of the Postgres programs. */
public final class PostgresArchive {
  /** Between two files. */
  private interface Pause {
    void end() throws IOException;
  }

  private PostgresArchive() {}

  /** Into a folder of its own. */
  public static void unpack(InputStream packed, Path folder) throws IOException {
    unpack(packed, folder, () -> {});
  }

  /**
   * Safe against a crash half-way and against a concurrent call in another process. Leaves nothing
   * unfinished when this process is told to end.
   */
  static void unpackOnce(InputStream packed, Path target, PostgresBinaries binaries)
      throws IOException {
    Path folder = Files.createDirectories(target.resolveSibling("."));
    try (FileChannel channel =
        FileChannel.open(
            folder.resolve("unpacking.lock"),
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE)) {
      channel.lock();
      if (Files.isDirectory(target)) {
        return;
      }
      Path unfinished = target.resolveSibling("unpacking");
      FileTree.delete(unfinished);
      try {
        unpack(packed, unfinished, binaries::requireNotEnding);
      } catch (IOException broken) {
        FileTree.delete(unfinished);
        throw broken;
      }
      Files.move(unfinished, target, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  private static void unpack(InputStream packed, Path folder, Pause pause) throws IOException {
    try (TarArchiveInputStream tar =
        new TarArchiveInputStream(
            new XZCompressorInputStream(new BufferedInputStream(packed, 1 << 16)))) {
      for (TarArchiveEntry entry; (entry = tar.getNextEntry()) != null; ) {
        pause.end();
        write(entry, tar, folder);
      }
    }
  }

  private static void write(TarArchiveEntry entry, InputStream content, Path folder)
      throws IOException {
    Path path = folder.resolve(entry.getName()).normalize();
    if (!path.startsWith(folder)) {
      throw new IOException("the archive names a path outside of itself: " + entry.getName());
    }
    if (entry.isDirectory()) {
      Files.createDirectories(path);
      return;
    }
    Files.createDirectories(path.resolveSibling("."));
    if (entry.isSymbolicLink()) {
      Files.createSymbolicLink(path, Path.of(entry.getLinkName()));
      return;
    }
    Files.copy(content, path);
    if ((entry.getMode() & 0100) != 0 && !path.toFile().setExecutable(true)) {
      throw new IOException("can't make " + path + " executable");
    }
  }
}
