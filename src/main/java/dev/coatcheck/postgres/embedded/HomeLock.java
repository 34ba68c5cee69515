package dev.coatcheck.postgres.embedded;

import dev.coatcheck.postgres.connection.UnusableDatabase;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The right to use a home directory: one holder per machine, until its process ends. */
final class HomeLock implements AutoCloseable {
  /**
   * Homes that this JVM holds. A second channel on the lock file must not even be opened: POSIX
   * drops all locks of a process on a file as soon as the process closes any descriptor of the
   * file.
   */
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path home;
  private final FileChannel channel;

  private HomeLock(Path home, FileChannel channel) {
    this.home = home;
    this.channel = channel;
  }

  /** Takes the lock of a home, given as a real path. */
  static HomeLock take(Path home) throws UnusableDatabase, IOException {
    return tryTake(home).orElseThrow(() -> inUse(home));
  }

  /** Same, but empty if another instance holds the lock. */
  static Optional<HomeLock> tryTake(Path home) throws IOException {
    if (!HELD.add(home)) {
      return Optional.empty();
    }
    FileChannel channel = null;
    boolean taken = false;
    try {
      channel =
          FileChannel.open(
              home.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      taken = channel.tryLock() != null;
      return taken ? Optional.of(new HomeLock(home, channel)) : Optional.empty();
    } finally {
      if (!taken) {
        HELD.remove(home);
        if (channel != null) {
          channel.close();
        }
      }
    }
  }

  private static UnusableDatabase inUse(Path home) {
    return new UnusableDatabase(
        "The home "
            + home
            + " is in use by another instance or command: stop that instance, or wait for the end"
            + " of the command, or set COATCHECK_HOME to another directory.");
  }

  @Override
  public void close() throws IOException {
    channel.close();
    HELD.remove(home);
  }
}
