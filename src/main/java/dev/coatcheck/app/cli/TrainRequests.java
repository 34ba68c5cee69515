package dev.coatcheck.app.cli;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;

/**
 * Requests over one connection, with as little code as they need: all that this process loads is
 * kept for gateways, which have no use for an HTTP client.
 */
final class TrainRequests implements AutoCloseable {
  private static final String LENGTH = "content-length:";

  private final URI gateway;
  private final String key;
  private final Socket socket;
  private final InputStream answers;

  private TrainRequests(URI gateway, String key, Socket socket) throws IOException {
    this.gateway = gateway;
    this.key = key;
    this.socket = socket;
    this.answers = new BufferedInputStream(socket.getInputStream());
  }

  /**
   * Connects to a gateway.
   *
   * @param answerMax how long a request waits for bytes of its answer
   */
  static TrainRequests open(URI gateway, String key, Duration answerMax) throws IOException {
    Socket socket = new Socket(gateway.getHost(), gateway.getPort());
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(Math.toIntExact(answerMax.toMillis()));
    return new TrainRequests(gateway, key, socket);
  }

  /** Sends a request; a body is JSON, and none if it is empty. Returns the body of the answer. */
  String send(String method, String path, String body) throws IOException {
    byte[] content = body.getBytes(StandardCharsets.UTF_8);
    String head =
        "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s\r\n"
            .formatted(
                method,
                path,
                gateway.getAuthority(),
                key,
                content.length == 0
                    ? ""
                    : "Content-Type: application/json\r\nContent-Length: "
                        + content.length
                        + "\r\n");
    byte[] request = (head + body).getBytes(StandardCharsets.UTF_8);
    try {
      socket.getOutputStream().write(request);
      boolean isChunked = false;
      int length = 0;
      for (String line = line(); !line.isEmpty(); line = line()) {
        String header = line.toLowerCase(Locale.ROOT);
        isChunked |= header.equals("transfer-encoding: chunked");
        if (header.startsWith(LENGTH)) {
          length = Integer.parseInt(header.substring(LENGTH.length()).strip());
        }
      }
      return isChunked ? chunks() : new String(answers.readNBytes(length), StandardCharsets.UTF_8);
    } catch (InterruptedIOException late) {
      throw new IOException("no answer in time to " + method + " " + path, late);
    }
  }

  private String chunks() throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (int length = -1; length != 0; ) {
      length = Integer.parseInt(line(), 16);
      body.write(answers.readNBytes(length));
      String _ = line();
    }
    return body.toString(StandardCharsets.UTF_8);
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = answers.read(); next != '\n'; next = answers.read()) {
      if (next < 0) {
        throw new IOException("the gateway closed the connection");
      }
      line.append((char) next);
    }
    return line.toString().strip();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
