package dev.coatcheck.postgres.embedded;

import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** A folder and all that is in it. */
public final class FileTree {
  private static final int TRIES_MAX = 1_000;

  private static final SimpleFileVisitor<Path> DELETING =
      new SimpleFileVisitor<>() {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
            throws IOException {
          Files.deleteIfExists(file);
          return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException gone) throws IOException {
          if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            throw gone;
          }
          return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path inner, @Nullable IOException failure)
            throws IOException {
          Files.deleteIfExists(inner);
          return FileVisitResult.CONTINUE;
        }
      };

  private FileTree() {}

  /**
   * Deletes a folder until it is gone. Files may come and go meanwhile, because a program that was
   * just killed still ends.
   */
  public static void delete(Path folder) throws IOException {
    for (int tried = 1; ; tried++) {
      try {
        Files.walkFileTree(folder, DELETING);
        return;
      } catch (DirectoryNotEmptyException written) {
        if (tried == TRIES_MAX) {
          throw written;
        }
      }
    }
  }
}
