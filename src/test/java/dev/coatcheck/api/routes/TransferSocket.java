package dev.coatcheck.api.routes;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** An import or an export at its own pace, over a socket that holds back little. */
public final class TransferSocket implements AutoCloseable {
  /** Small, so that a reader that stops soon makes the gateway wait. */
  private static final int RECEIVE_BUFFER_BYTES = 64 * 1024;

  private static final int TIMEOUT_MILLIS = 60_000;

  private final Socket socket = new Socket();

  private TransferSocket(GatewayFixture gateway, List<String> request) throws IOException {
    socket.setReceiveBufferSize(RECEIVE_BUFFER_BYTES);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    socket.connect(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.uri().getPort()));
    socket.getOutputStream().write(RawHttp.request(request, new byte[0]));
  }

  /** Asks for all mappings of a type, and reads nothing yet. */
  static TransferSocket export(GatewayFixture gateway, String type, String key) throws IOException {
    return new TransferSocket(
        gateway,
        List.of(
            "GET /v1/exports?type=" + type + " HTTP/1.1",
            "Host: gateway",
            "Connection: close",
            "Authorization: Bearer " + key));
  }

  /** Sends the head of a request, and nothing else. */
  static TransferSocket of(GatewayFixture gateway, List<String> request) throws IOException {
    return new TransferSocket(gateway, request);
  }

  /** Asks for a file with some headers, and reads nothing yet. */
  public static TransferSocket get(GatewayFixture gateway, String path, String... headers)
      throws IOException {
    List<String> request =
        new ArrayList<>(List.of("GET " + path + " HTTP/1.1", "Host: gateway", "Connection: close"));
    request.addAll(List.of(headers));
    return new TransferSocket(gateway, request);
  }

  /**
   * Announces a file of CSV, and sends nothing of it yet: the gateway answers {@code 100 Continue}
   * once it wants the body.
   */
  static TransferSocket load(GatewayFixture gateway, long bytes, String key) throws IOException {
    return load(gateway, "/v1/imports", bytes, key);
  }

  /** As {@link #load}, for any operation that takes a file. */
  public static TransferSocket load(GatewayFixture gateway, String path, long bytes, String key)
      throws IOException {
    return new TransferSocket(
        gateway,
        List.of(
            "POST " + path + " HTTP/1.1",
            "Host: gateway",
            "Content-Type: text/csv",
            "Connection: close",
            "Expect: 100-continue",
            "Authorization: Bearer " + key,
            "Content-Length: " + bytes));
  }

  public void send(String rows) throws IOException {
    socket.getOutputStream().write(rows.getBytes(StandardCharsets.US_ASCII));
  }

  /** Reads some bytes, of which there must be as many. */
  public String read(int bytes) throws IOException {
    return new String(socket.getInputStream().readNBytes(bytes), StandardCharsets.US_ASCII);
  }

  /** Reads to the end; whether it looks like that of a whole answer. */
  public boolean isWholeAtTheEnd() {
    try {
      byte[] rest = socket.getInputStream().readAllBytes();
      String text = new String(rest, StandardCharsets.US_ASCII);
      return !text.contains("Transfer-Encoding: chunked") || text.endsWith("\r\n0\r\n\r\n");
    } catch (IOException reset) {
      return false;
    }
  }

  /** Reads until the gateway ends the connection, properly or not. */
  public String readToEnd() {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    try {
      InputStream in = socket.getInputStream();
      byte[] buffer = new byte[64 * 1024];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        all.write(buffer, 0, read);
      }
    } catch (IOException cut) {
      // What came before counts.
    }
    return all.toString(StandardCharsets.US_ASCII);
  }

  /** Has the contract judge an answer with a body of a known length. */
  public void check(String method, String path, String answer) {
    String[] headAndBody = answer.split("\r\n\r\n", 2);
    List<String> lines = headAndBody[0].lines().toList();
    Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    lines.stream()
        .skip(1)
        .map(line -> line.split(": ", 2))
        .forEach(header -> headers.put(header[0], List.of(header[1])));
    Contract.load()
        .checkAnswer(
            new Contract.Sent(method, path, Map.of(), null),
            new Contract.Answer(
                Integer.parseInt(lines.getFirst().split(" ", 3)[1]), headers, headAndBody[1]));
  }

  /** Goes away without a word of farewell: the other side gets a reset. */
  void vanish() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
