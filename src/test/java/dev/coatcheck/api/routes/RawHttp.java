package dev.coatcheck.api.routes;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** Sends bytes that no HTTP library would send, and reads the one answer to them. */
public final class RawHttp {
  /** An answer; an answer to HEAD has no body, whatever its Content-Length says. */
  public record Reply(String statusLine, Map<String, List<String>> headers, String body) {
    int status() {
      return Integer.parseInt(statusLine.split(" ", 3)[1]);
    }

    /** As the contract judges it. */
    Contract.Answer answer() {
      return new Contract.Answer(status(), headers, body);
    }
  }

  private static final int TIMEOUT_MILLIS = 30_000;
  private static final int LINE_BYTES_MAX = 64 << 10;
  private static final int BODY_BYTES_MAX = 8 << 20;

  private RawHttp() {}

  /**
   * Sends it again after 503 with Retry-After, as {@link TestClient} does. Fails with an
   * EOFException if the connection ends without an answer.
   */
  public static Reply send(String host, int port, byte[] request) throws IOException {
    Reply first = sendOnce(host, port, request);
    return saysAgain(first)
        ? Awaitility.await("another answer than " + first)
            .until(() -> sendOnce(host, port, request), reply -> !saysAgain(reply))
        : first;
  }

  private static boolean saysAgain(Reply reply) {
    return reply.status() == 503 && reply.headers().containsKey("Retry-After");
  }

  /** As {@link #send}, but takes the first answer. */
  static Reply sendOnce(String host, int port, byte[] request) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(host, port), TIMEOUT_MILLIS);
      socket.setSoTimeout(TIMEOUT_MILLIS);
      // Beside the reading: an answer may come, and the connection end, before all is written. The
      // writer ends with the socket at the latest.
      Thread.ofVirtual().start(() -> write(socket, request));
      boolean head = new String(request, StandardCharsets.ISO_8859_1).startsWith("HEAD ");
      return read(new BufferedInputStream(socket.getInputStream()), head);
    }
  }

  /** A request from its lines, the request line first, and a body that goes out as it is. */
  public static byte[] request(List<String> lines, byte[] body) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (String line : lines) {
      out.writeBytes((line + "\r\n").getBytes(StandardCharsets.UTF_8));
    }
    out.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
    out.writeBytes(body);
    return out.toByteArray();
  }

  /** A body in chunks, for a request that says {@code Transfer-Encoding: chunked}. */
  static byte[] chunked(byte[] body, int chunkBytes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int start = 0; start < body.length; start += chunkBytes) {
      int length = Math.min(chunkBytes, body.length - start);
      out.writeBytes((Integer.toHexString(length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
      out.write(body, start, length);
      out.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
    }
    out.writeBytes("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    return out.toByteArray();
  }

  private static void write(Socket socket, byte[] request) {
    try {
      OutputStream out = socket.getOutputStream();
      out.write(request);
      out.flush();
    } catch (IOException e) {
      // The other side stopped listening; its answer, or the lack of one, says why.
    }
  }

  /** The next answer of a connection. */
  public static Reply read(InputStream in, boolean head) throws IOException {
    String statusLine = line(in);
    if (statusLine == null) {
      throw new EOFException("the connection ended without an answer");
    }
    Map<String, List<String>> headers = headers(in);
    if (statusLine.matches("HTTP/1.1 1.*")) {
      return read(in, head);
    }
    byte[] body =
        head || statusLine.matches("HTTP/1.1 (204|304).*") ? new byte[0] : body(in, headers);
    return new Reply(statusLine, headers, new String(body, StandardCharsets.UTF_8));
  }

  private static Map<String, List<String>> headers(InputStream in) throws IOException {
    Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (String line = line(in); line != null && !line.isEmpty(); line = line(in)) {
      String[] nameAndValue = line.split(":", 2);
      headers
          .computeIfAbsent(nameAndValue[0], name -> new ArrayList<>())
          .add(nameAndValue.length == 2 ? nameAndValue[1].strip() : "");
    }
    return headers;
  }

  private static byte[] body(InputStream in, Map<String, List<String>> headers) throws IOException {
    if (headers.containsKey("Transfer-Encoding")) {
      ByteArrayOutputStream body = new ByteArrayOutputStream();
      for (int size = chunkSize(in); size > 0; size = chunkSize(in)) {
        body.writeBytes(exactly(in, size));
        line(in);
      }
      headers(in);
      return body.toByteArray();
    }
    List<String> length = headers.get("Content-Length");
    return length == null
        ? in.readNBytes(BODY_BYTES_MAX)
        : exactly(in, Integer.parseInt(length.getFirst()));
  }

  private static int chunkSize(InputStream in) throws IOException {
    String line = line(in);
    if (line == null) {
      throw new EOFException("the connection ended between chunks");
    }
    return Integer.parseInt(line.split(";", 2)[0].strip(), 16);
  }

  private static byte[] exactly(InputStream in, int length) throws IOException {
    if (length > BODY_BYTES_MAX) {
      throw new IOException("a body of " + length + " bytes");
    }
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("the body ended after " + bytes.length + " of " + length + " bytes");
    }
    return bytes;
  }

  /** The next line without its end, null at the end of the stream. */
  private static @Nullable String line(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        return line.size() == 0 ? null : line.toString(StandardCharsets.ISO_8859_1);
      }
      if (line.size() >= LINE_BYTES_MAX) {
        throw new IOException("a line of more than " + LINE_BYTES_MAX + " bytes");
      }
      line.write(next);
    }
    String text = line.toString(StandardCharsets.ISO_8859_1);
    return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
  }
}
