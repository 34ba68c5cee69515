package dev.coatcheck.app.boot;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** A connection of a plain HTTP/1.1 client, kept for the next request. */
final class KeptConnection implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 30_000;

  /**
   * The connection ended before a byte of an answer. If it was used before, any HTTP client sends
   * the request again: a server may close an idle connection at the moment of the next request.
   */
  static final class Unanswered extends IOException {
    private Unanswered(IOException cause) {
      super(cause);
    }
  }

  record Answer(int status, String body) {}

  private final SocketChannel channel;
  private final InputStream in;
  private boolean isLast;

  KeptConnection(int port) throws IOException {
    channel = SocketChannel.open();
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.socket().setSoTimeout(TIMEOUT_MILLIS);
    channel
        .socket()
        .connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), TIMEOUT_MILLIS);
    in = new BufferedInputStream(channel.socket().getInputStream(), 4 << 10);
  }

  /** Whether another request may follow the one that was answered. */
  boolean isKept() {
    return !isLast;
  }

  /** Whether the server has not closed it while it was idle, as far as is known here. */
  boolean isOpen() throws IOException {
    channel.configureBlocking(false);
    boolean isSilent = channel.read(ByteBuffer.allocate(1)) == 0;
    channel.configureBlocking(true);
    return isSilent;
  }

  /** One request, and its answer. */
  Answer exchange(byte[] request) throws IOException {
    String statusLine = begin(request);
    int length = 0;
    for (String header = line(); !header.isEmpty(); header = line()) {
      String lower = header.toLowerCase(Locale.ROOT);
      if (lower.startsWith("content-length:")) {
        length = Integer.parseInt(header.substring(15).strip());
      } else if (lower.startsWith("transfer-encoding:")) {
        throw new IOException(header); // no answer that is asked for here has one
      } else if (lower.equals("connection: close")) {
        isLast = true;
      }
    }
    byte[] body = in.readNBytes(length);
    if (body.length < length) {
      throw new EOFException("in a body, after " + statusLine);
    }
    return new Answer(
        Integer.parseInt(statusLine.split(" ", 3)[1]), new String(body, StandardCharsets.UTF_8));
  }

  private String begin(byte[] request) throws IOException {
    try {
      channel.socket().getOutputStream().write(request);
      in.mark(1);
      if (in.read() < 0) {
        throw new EOFException("no answer");
      }
      in.reset();
    } catch (IOException failed) {
      throw new Unanswered(failed);
    }
    return line();
  }

  private String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(80);
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("in a head: " + line);
      }
      if (c != '\r') {
        line.write(c);
      }
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
