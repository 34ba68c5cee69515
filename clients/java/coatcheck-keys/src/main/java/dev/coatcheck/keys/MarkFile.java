package dev.coatcheck.keys;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * The state file of a standalone generator: a time in Unix milliseconds that no key lies beyond. A
 * new mark is on the disk before keys use the time up to it.
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

  private final Path path;
  private final FileChannel channel;
  private final String head;
  private volatile long mark;

  private MarkFile(Path path, FileChannel channel, String head, long mark) {
    this.path = path;
    this.channel = channel;
    this.head = head;
    this.mark = mark;
  }

  /** Opens the file, or makes a new one. */
  static MarkFile open(Path path, String layout, int worker) {
    @Nullable FileChannel channel = null;
    try {
      channel =
          FileChannel.open(
              path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      lock(channel, path);
      String head = START + layout + " " + worker + " ";
      return new MarkFile(path, channel, head, read(channel, path, head));
    } catch (IOException e) {
      close(channel);
      throw new UncheckedIOException("can't use the state file " + path, e);
    }
  }

  private static void lock(FileChannel channel, Path path) throws IOException {
    try {
      @Nullable FileLock lock = channel.tryLock();
      if (lock != null) {
        return; // until the channel is closed
      }
    } catch (OverlappingFileLockException e) {
      // held in this process
    }
    throw new IOException("another generator has " + path + " open");
  }

  private static void close(@Nullable FileChannel channel) {
    try {
      if (channel != null) {
        channel.close();
      }
    } catch (IOException e) {
      // Nothing was written.
    }
  }

  private static long read(FileChannel channel, Path path, String head) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(BYTES_MAX);
    int length = channel.read(bytes, 0);
    if (length <= 0) {
      return Long.MIN_VALUE;
    }
    String text = new String(bytes.array(), 0, length, StandardCharsets.US_ASCII).strip();
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

  /** Writes a mark beyond a time. */
  synchronized void extend(long time) {
    if (!covers(time)) {
      write(time + AHEAD_MILLIS);
    }
  }

  private void write(long millis) {
    // Of one length, so that a shorter mark leaves nothing of a longer one.
    byte[] line = "%s%-20d%n".formatted(head, millis).getBytes(StandardCharsets.US_ASCII);
    try {
      ByteBuffer bytes = ByteBuffer.wrap(line);
      while (bytes.hasRemaining()) {
        if (channel.write(bytes, bytes.position()) < 0) {
          throw new IOException("nothing was written");
        }
      }
      channel.force(false);
    } catch (IOException e) {
      throw new UncheckedIOException("can't write the state file " + path, e);
    }
    mark = millis;
  }

  /** Writes the latest time of any key, and lets the file go. */
  synchronized void close(long latest) {
    if (channel.isOpen()) {
      if (latest >= 0) {
        write(latest);
      }
      close(channel);
    }
  }
}
