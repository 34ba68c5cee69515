package dev.coatcheck.keys;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The state file of a standalone generator: a time in Unix milliseconds that no key lies beyond. A
 * new mark is on the disk before keys use the time up to it.
 *
 * <p>The threads that make keys write it. So it isn't written through a channel, which an interrupt
 * of such a thread would close for all.
 *
 * <pre>
 *   coatcheck-keys 1 default 7 1790000000000
 *                    layout  worker  mark
 * </pre>
 */
final class MarkFile {
  /** How far ahead of the keys a mark is written. */
  private static final long AHEAD_MILLIS = 2_000;

  private static final String START = "coatcheck-keys 1 ";
  private static final int BYTES_MAX = 256;

  /**
   * The real paths of the files that this process has open. Such a file isn't opened again: to
   * close any descriptor of a file releases the process's lock on it.
   */
  private static final Set<Path> OPEN = ConcurrentHashMap.newKeySet();

  private final Path path;
  private final RandomAccessFile file;
  private final String head;
  private volatile long mark;
  private boolean isClosed;

  private MarkFile(Path path, RandomAccessFile file, String head, long mark) {
    this.path = path;
    this.file = file;
    this.head = head;
    this.mark = mark;
  }

  /** Opens the file, or makes a new one. */
  static synchronized MarkFile open(Path path, String layout, int worker) {
    @Nullable RandomAccessFile file = null;
    try {
      if (Files.exists(path) && OPEN.contains(path.toRealPath())) {
        throw taken(path);
      }
      file = new RandomAccessFile(path.toFile(), "rw");
      lock(file, path);
      String head = START + layout + " " + worker + " ";
      MarkFile opened = new MarkFile(path.toRealPath(), file, head, read(file, path, head));
      OPEN.add(opened.path);
      return opened;
    } catch (IOException e) {
      close(file);
      throw new UncheckedIOException("can't use the state file " + path, e);
    }
  }

  private static void lock(RandomAccessFile file, Path path) throws IOException {
    try {
      @Nullable FileLock lock = file.getChannel().tryLock();
      if (lock != null) {
        return; // until the file is closed
      }
    } catch (OverlappingFileLockException e) {
      // held in this process, by another name of the file
    }
    throw taken(path);
  }

  private static IOException taken(Path path) {
    return new IOException("another generator has " + path + " open");
  }

  private static void close(@Nullable RandomAccessFile file) {
    try {
      if (file != null) {
        file.close();
      }
    } catch (IOException e) {
      // Nothing was written.
    }
  }

  private static long read(RandomAccessFile file, Path path, String head) throws IOException {
    byte[] bytes = new byte[BYTES_MAX];
    int length = file.read(bytes);
    if (length <= 0) {
      return Long.MIN_VALUE;
    }
    String text = new String(bytes, 0, length, StandardCharsets.US_ASCII).strip();
    if (!text.startsWith(head)) {
      throw new IOException(path + " is no state file of this layout and worker: " + text);
    }
    try {
      return Long.parseLong(text.substring(head.length()));
    } catch (NumberFormatException e) {
      throw new IOException(path + " has no mark: " + text, e);
    }
  }

  /** The mark, or the least long where there was none. */
  long millis() {
    return mark;
  }

  boolean covers(long time) {
    return time <= mark;
  }

  /** Writes a mark beyond a time, except after the close. */
  synchronized void extend(long time) {
    if (!isClosed && !covers(time)) {
      write(time + AHEAD_MILLIS);
    }
  }

  private void write(long millis) {
    // Of one length, so that a shorter mark leaves nothing of a longer one.
    byte[] line = "%s%-20d%n".formatted(head, millis).getBytes(StandardCharsets.US_ASCII);
    try {
      file.seek(0);
      file.write(line);
      file.getFD().sync();
    } catch (IOException e) {
      throw new UncheckedIOException("can't write the state file " + path, e);
    }
    mark = millis;
  }

  /** Writes the latest time of any key, and lets the file go. */
  synchronized void close(long latest) {
    if (!isClosed) {
      isClosed = true;
      try {
        if (latest >= 0) {
          write(latest);
        }
      } finally {
        close(file);
        OPEN.remove(path);
      }
    }
  }
}
