package dev.coatcheck.app.demo;

import dev.coatcheck.app.client.CommandFailed;
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
 * The folder of one demo, below the folder for temporary files. It is removed when the process
 * ends; if the process was killed, the next demo removes it, with the Postgres that runs on it.
 *
 * <p>The lock in it says that its demo runs. Postgres locks a home of its own inside.
 */
final class DemoHome {
  private static final String PREFIX = "coatcheck-demo-";
  private static final String LOCK = "lock";

  /** A folder without a lock is being made, unless it is older. */
  private static final Duration MAKING_MAX = Duration.ofMinutes(1);

  private static final Duration END_MAX = Duration.ofSeconds(60);
  private static final Duration POLL = Duration.ofMillis(50);

  private final Path folder;

  /** Kept open: closing it would give the lock up. */
  private final FileChannel lock;

  private DemoHome(Path folder, FileChannel lock) {
    this.folder = folder;
    this.lock = lock;
  }

  /** Removes what killed demos have left, and makes a folder that goes with this process. */
  static DemoHome make() throws CommandFailed {
    Path parent = Path.of(System.getProperty("java.io.tmpdir"));
    try {
      removeLeft(parent);
      Path folder = Files.createTempDirectory(parent, PREFIX).toRealPath();
      Path unfinished = folder.resolve("lock.new");
      FileChannel channel =
          FileChannel.open(unfinished, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      if (channel.tryLock() == null) {
        throw new IOException("the new file " + unfinished + " is locked");
      }
      // Only now is it found, so that no other demo takes it for one that was left.
      Files.move(unfinished, folder.resolve(LOCK));
      DemoHome home = new DemoHome(folder, channel);
      Runtime.getRuntime().addShutdownHook(new Thread(home::removeAtExit, "remove-demo"));
      return home;
    } catch (IOException denied) {
      throw new CommandFailed(
          "can't use the folder for temporary files " + parent + ": " + denied.getMessage());
    }
  }

  Path gateway() {
    return folder.resolve("home");
  }

  /** Removes the folder, once the gateway is closed. */
  void remove() {
    try (lock) {
      FileTree.delete(folder);
    } catch (IOException left) {
      System.err.println("Can't remove " + folder + ": " + left.getMessage());
    }
  }

  /** Other hooks end Postgres meanwhile, or its start. */
  private void removeAtExit() {
    long sinceNanos = System.nanoTime();
    do {
      pause();
      if (System.nanoTime() - sinceNanos > END_MAX.toNanos()) {
        endPrograms(folder);
      }
    } while (programs(folder).findAny().isPresent());
    remove();
  }

  private static void removeLeft(Path parent) throws IOException {
    Object user = owner();
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(parent, PREFIX + "*")) {
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
      // Its own demo, or another one, has removed it meanwhile.
    } catch (IOException other) {
      System.err.println(
          "Can't remove what an earlier demo left, " + found + ": " + other.getMessage());
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
