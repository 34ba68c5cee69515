package dev.coatcheck.app.client;

import dev.coatcheck.postgres.embedded.FileTree;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The folder of one command, below the folder for temporary files. It is removed when the process
 * ends; if the process was killed, the next such command removes it, with the Postgres that runs on
 * it.
 *
 * <p>The lock in it says that its command runs. Postgres locks a home of its own inside.
 */
public final class TemporaryFolder {
  private static final String LOCK = "lock";

  /** A folder without a lock is being made, unless it is older. */
  private static final Duration MAKING_MAX = Duration.ofMinutes(1);

  private static final Duration END_MAX = Duration.ofSeconds(60);
  private static final Duration POLL = Duration.ofMillis(50);

  private final Path path;

  /** Kept open: closing it would give the lock up. */
  private final FileChannel lock;

  private TemporaryFolder(Path path, FileChannel lock) {
    this.path = path;
    this.lock = lock;
  }

  /**
   * Removes what killed commands have left, and makes a folder that goes with this process.
   *
   * @param prefix of the names of such folders
   */
  public static TemporaryFolder make(String prefix) throws CommandFailed {
    Path parent = Path.of(System.getProperty("java.io.tmpdir"));
    try {
      removeLeft(parent, prefix);
      Path folder = Files.createTempDirectory(parent, prefix).toRealPath();
      Path unfinished = folder.resolve("lock.new");
      FileChannel channel =
          FileChannel.open(unfinished, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      if (channel.tryLock() == null) {
        throw new IOException("the new file " + unfinished + " is locked");
      }
      // Only now is it found, so that no other command takes it for one that was left.
      Files.move(unfinished, folder.resolve(LOCK));
      TemporaryFolder made = new TemporaryFolder(folder, channel);
      Runtime.getRuntime()
          .addShutdownHook(new Thread(made::removeAtExit, "remove-temporary-folder"));
      return made;
    } catch (IOException denied) {
      throw new CommandFailed(
          "can't use the folder for temporary files " + parent + ": " + denied.getMessage());
    }
  }

  public Path path() {
    return path;
  }

  /** Removes the folder, once nothing uses it any more. */
  public void remove() {
    try (lock) {
      FileTree.delete(path);
    } catch (IOException left) {
      System.err.println("Can't remove " + path + ": " + left.getMessage());
    }
  }

  /**
   * Other hooks end Postgres meanwhile, or its start, and what else this process has started. What
   * outlasts them by a minute is killed.
   */
  private void removeAtExit() {
    long sinceNanos = System.nanoTime();
    do {
      pause();
      if (System.nanoTime() - sinceNanos > END_MAX.toNanos()) {
        endPrograms(path);
        ProcessHandle.current().children().forEach(ProcessHandle::destroyForcibly);
      }
    } while (programs(path).findAny().isPresent()
        || ProcessHandle.current().children().findAny().isPresent());
    remove();
  }

  private static void removeLeft(Path parent, String prefix) throws IOException {
    Object user = owner();
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(parent, prefix + "*")) {
      for (Path folder : folders) {
        if (Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
          removeIfLeft(folder, user);
        }
      }
    }
  }

  private static Object owner() throws IOException {
    Path mine = Files.createTempFile("coatcheck", ".user");
    try {
      return Files.getOwner(mine);
    } finally {
      Files.delete(mine);
    }
  }

  private static void removeIfLeft(Path found, Object user) {
    try {
      if (!user.equals(Files.getOwner(found, LinkOption.NOFOLLOW_LINKS))) {
        return;
      }
      Path folder = found.toRealPath();
      Path lock = folder.resolve(LOCK);
      if (!Files.exists(lock)) {
        Instant made = Files.getLastModifiedTime(folder).toInstant();
        if (made.plus(MAKING_MAX).isBefore(Instant.now())) {
          FileTree.delete(folder);
        }
        return;
      }
      try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE)) {
        Optional<FileLock> free = Optional.ofNullable(channel.tryLock());
        if (free.isPresent()) {
          endPrograms(folder);
          FileTree.delete(folder);
        }
      }
    } catch (NoSuchFileException gone) {
      // Its own command, or another one, has removed it meanwhile.
    } catch (IOException other) {
      System.err.println(
          "Can't remove what an earlier command left, " + found + ": " + other.getMessage());
    }
  }

  /** Its data goes too, so nothing has to be saved. */
  private static void endPrograms(Path folder) {
    programs(folder).filter(ProcessHandle::destroyForcibly).forEach(one -> one.onExit().join());
  }

  /** The programs of Postgres lie in the folder themselves. */
  private static Stream<ProcessHandle> programs(Path folder) {
    return ProcessHandle.allProcesses()
        .filter(
            one ->
                one.info()
                    .command()
                    .filter(program -> program.startsWith(folder + "/"))
                    .isPresent());
  }

  private static void pause() {
    try {
      Thread.sleep(POLL);
    } catch (InterruptedException ending) {
      Thread.currentThread().interrupt();
    }
  }
}
