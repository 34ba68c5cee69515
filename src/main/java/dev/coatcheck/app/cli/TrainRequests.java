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
 * Sends requests over one connection, with as little code as possible: all classes that this
 * process loads go into the gateway's cache, and gateways need no HTTP client.
 */
final class TrainRequests implements AutoCloseable {
  private static final String LENGTH = "content-length:";
  private static final int ATTEMPTS_MAX = 50;
  private static final Duration PAUSE = Duration.ofMillis(200);

  private final URI gateway;
  private final String key;
  private final Duration answerMax;
  private Socket socket = new Socket();
  private InputStream answers = InputStream.nullInputStream();

  private record Answer(int status, String body) {}

  /**
   * Connects to a gateway with the first request.
   *
   * @param answerMax how long a request waits for bytes of its answer
   */
  TrainRequests(URI gateway, String key, Duration answerMax) {
    this.gateway = gateway;
    this.key = key;
    this.answerMax = answerMax;
  }

  /**
   * Sends a request with a JSON body, or none if it is empty. Retries while the gateway doesn't
   * answer or says that it can't, because a busy machine may be slow.
   *
   * @return the body of the answer
   */
  String send(String method, String path, String body) throws IOException, InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        Answer answer = sendOnce(method, path, body);
        if (answer.status() < 500) {
          return answer.body();
        }
        if (attempt == ATTEMPTS_MAX) {
          throw new IOException("the answer to %s %s is %s".formatted(method, path, answer));
        }
      } catch (IOException broken) {
        if (attempt == ATTEMPTS_MAX) {
          throw broken;
        }
        socket.close();
      }
      Thread.sleep(PAUSE);
    }
  }

  private void connect() throws IOException {
    socket = new Socket(gateway.getHost(), gateway.getPort());
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(Math.toIntExact(answerMax.toMillis()));
    answers = new BufferedInputStream(socket.getInputStream());
  }

  private Answer sendOnce(String method, String path, String body) throws IOException {
    if (!socket.isConnected() || socket.isClosed()) {
      connect();
    }
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
      int status = Integer.parseInt(line().split(" ", -1)[1]);
      boolean isChunked = false;
      int length = 0;
      for (String line = line(); !line.isEmpty(); line = line()) {
        String header = line.toLowerCase(Locale.ROOT);
        isChunked |= header.equals("transfer-encoding: chunked");
        if (header.startsWith(LENGTH)) {
          length = Integer.parseInt(header.substring(LENGTH.length()).strip());
        }
      }
      return new Answer(
          status,
          isChunked ? chunks() : new String(answers.readNBytes(length), StandardCharsets.UTF_8));
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
