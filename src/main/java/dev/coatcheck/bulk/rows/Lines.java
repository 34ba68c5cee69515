package dev.coatcheck.bulk.rows;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Splits a stream into lines, in 64 KiB of memory for a stream of any length. A line ends with LF
 * or CRLF, the last line also with the stream. A byte order mark at the start, as Excel writes it,
 * is skipped.
 *
 * <p>The line is a part of the buffer, and valid until the next call of {@link #next}.
 */
public final class Lines {
  /** A longer line is cut to one more byte, so that the reader sees that it is too long. */
  public static final int BYTES_MAX = 4_096;

  private static final int BUFFER_BYTES = 64 * 1024;

  private final InputStream input;
  private byte[] buffer = new byte[BUFFER_BYTES];
  private int filled;
  private int cursor;
  private boolean ended;

  /** Position in the stream of the buffer's first byte. */
  private long bufferAt;

  private byte @Nullable [] cut;
  private int from;
  private int to;
  private long number;

  /** Starts before the first line. Doesn't close the stream. */
  public Lines(InputStream input) {
    this.input = input;
  }

  /**
   * Moves to the next line.
   *
   * @return false if there is none
   * @throws IOException if the stream broke off; the incomplete line doesn't count
   */
  public boolean next() throws IOException {
    if (number == 0) {
      skipByteOrderMark();
    }
    cut = null;
    from = cursor;
    int newline = find();
    if (newline < 0 && filled - cursor > BYTES_MAX) {
      cut = Arrays.copyOfRange(buffer, cursor, cursor + BYTES_MAX + 1);
      newline = skipToNewline();
      from = 0;
      to = cut.length;
    } else {
      from = cursor;
      to = newline < 0 ? filled : newline;
      if (newline < 0 && from == to) {
        return false;
      }
      if (to > from && buffer[to - 1] == '\r') {
        to--;
      }
      to = Math.min(to, from + BYTES_MAX + 1);
    }
    cursor = newline < 0 ? filled : newline + 1;
    number++;
    return true;
  }

  /** The buffer with the line, from {@link #from} to {@link #to}, exclusive. */
  public byte[] bytes() {
    return cut == null ? buffer : cut;
  }

  public int from() {
    return from;
  }

  public int to() {
    return to;
  }

  public boolean isTooLong() {
    return to - from > BYTES_MAX;
  }

  public boolean isEmpty() {
    return from == to;
  }

  /** Counts from 1. */
  public long number() {
    return number;
  }

  /** How many bytes of the stream the lines so far have used, including their ends. */
  public long position() {
    return bufferAt + cursor;
  }

  private void skipByteOrderMark() throws IOException {
    while (filled < 3 && fill()) {
      // until there are three bytes, or the stream ends
    }
    if (filled >= 3
        && buffer[0] == (byte) 0xEF
        && buffer[1] == (byte) 0xBB
        && buffer[2] == (byte) 0xBF) {
      cursor = 3;
    }
  }

  /** The index of the next LF; -1 if the line is the last one or too long. */
  private int find() throws IOException {
    int scanned = cursor;
    while (true) {
      for (int i = scanned; i < filled; i++) {
        if (buffer[i] == '\n') {
          return i;
        }
      }
      // One byte more for a CR.
      if (filled - cursor > BYTES_MAX + 1) {
        return -1;
      }
      scanned = filled - cursor;
      if (!fill()) {
        return -1;
      }
      scanned += cursor;
    }
  }

  private int skipToNewline() throws IOException {
    while (true) {
      cursor = filled;
      if (!fill()) {
        return -1;
      }
      for (int i = cursor; i < filled; i++) {
        if (buffer[i] == '\n') {
          return i;
        }
      }
    }
  }

  /** Reads more bytes; moves the existing ones to the front when the end of the buffer is near. */
  private boolean fill() throws IOException {
    if (ended) {
      return false;
    }
    if (cursor > 0 && buffer.length - filled < buffer.length / 2) {
      System.arraycopy(buffer, cursor, buffer, 0, filled - cursor);
      bufferAt += cursor;
      filled -= cursor;
      cursor = 0;
    }
    int read = input.read(buffer, filled, buffer.length - filled);
    if (read < 0) {
      ended = true;
      return false;
    }
    filled += read;
    return true;
  }
}
