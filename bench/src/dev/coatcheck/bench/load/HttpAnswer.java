package dev.coatcheck.bench.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * Finds the end of one HTTP/1.1 answer after another, and their status. It reads what the servers
 * of a benchmark send, not all that HTTP allows: a chunked body must not hold an empty line.
 */
final class HttpAnswer {
  private static final int HEAD_BYTES_MAX = 8 * 1024;
  private static final int CR_LF_CR_LF = 0x0d0a_0d0a;
  private static final long LAST_CHUNK = 0x0d0a_300d_0a0d_0aL; // \r\n0\r\n\r\n
  private static final long LAST_CHUNK_MASK = 0xff_ffff_ffff_ffffL;

  private final byte[] head = new byte[HEAD_BYTES_MAX];
  private int headBytes;
  private boolean inBody;
  private boolean chunked;
  private long bodyBytesLeft;
  private long tail;

  /** Reads all there is; true if the answer ended with it. */
  boolean read(ByteBuffer in) {
    while (!inBody && in.hasRemaining()) {
      byte next = in.get();
      head[headBytes++] = next;
      tail = tail << 8 | (next & 0xff);
      if ((int) tail == CR_LF_CR_LF) {
        beginBody();
      }
    }
    if (!inBody) {
      return false;
    }
    int bytes = in.remaining();
    if (chunked) {
      for (int i = Math.max(in.position(), in.limit() - Long.BYTES); i < in.limit(); i++) {
        tail = tail << 8 | (in.get(i) & 0xff);
      }
    }
    in.position(in.limit());
    bodyBytesLeft -= bytes;
    return chunked ? (tail & LAST_CHUNK_MASK) == LAST_CHUNK : bodyBytesLeft == 0;
  }

  /** Of the answer that ended. */
  int status() {
    return (head[9] - '0') * 100 + (head[10] - '0') * 10 + (head[11] - '0');
  }

  void expectNext() {
    headBytes = 0;
    inBody = false;
    tail = 0;
  }

  private void beginBody() {
    String text =
        new String(head, 0, headBytes, StandardCharsets.ISO_8859_1).toLowerCase(Locale.ROOT);
    String name = "\ncontent-length:";
    int at = text.indexOf(name);
    inBody = true;
    chunked = at < 0;
    if (at >= 0) {
      int from = at + name.length();
      bodyBytesLeft = Long.parseLong(text.substring(from, text.indexOf('\r', from)).strip());
    } else if (!text.contains("\ntransfer-encoding: chunked")) {
      throw new IllegalStateException(
          "an answer without a length: " + Arrays.asList(text.split("\r\n", -1)));
    }
  }
}
