package dev.coatcheck.bench.load;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** An HTTP server that answers as a test says, by the number of the request. */
final class StubServer implements AutoCloseable {
  /** The answer to a request that counts from 1: a status, or 0 to break off the connection. */
  @FunctionalInterface
  interface Answers {
    int status(int request);
  }

  private final Set<String> firstLines = ConcurrentHashMap.newKeySet();
  private final AtomicInteger requests = new AtomicInteger();
  private final ReentrantLock lock = new ReentrantLock();
  private final ServerSocket server;
  private final Answers answers;

  private StubServer(ServerSocket server, Answers answers) {
    this.server = server;
    this.answers = answers;
  }

  static StubServer start(Answers answers) throws IOException {
    StubServer stub =
        new StubServer(new ServerSocket(0, 64, InetAddress.getLoopbackAddress()), answers);
    Thread.ofVirtual().start(stub::accept);
    return stub;
  }

  /** Answers everything, but stands still for a second when so many were answered. */
  static StubServer pausingAt(int request) throws IOException {
    return start(
        number -> {
          if (number == request) {
            pause();
          }
          return 200;
        });
  }

  private static void pause() {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  LoadSpec spec(int connections) {
    return new LoadSpec(
        server.getInetAddress().getHostAddress(),
        server.getLocalPort(),
        connections,
        "GET",
        "/x",
        Map.of(),
        "",
        Optional.empty());
  }

  Set<String> firstLines() {
    return firstLines;
  }

  int requests() {
    return requests.get();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException closed) {
      // The test is over.
    }
  }

  private void serve(Socket accepted) {
    try (Socket socket = accepted) {
      BufferedReader in =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
      for (String first = in.readLine(); first != null; first = in.readLine()) {
        firstLines.add(first);
        int status = answer(in);
        if (status == 0) {
          return;
        }
        socket
            .getOutputStream()
            .write(
                ("HTTP/1.1 " + status + " X\r\nContent-Length: 2\r\n\r\nok")
                    .getBytes(StandardCharsets.ISO_8859_1));
      }
    } catch (IOException closed) {
      // By the generator.
    }
  }

  /** One request at a time, so that a pause stops them all. */
  private int answer(BufferedReader in) throws IOException {
    for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {}
    lock.lock();
    try {
      return answers.status(requests.incrementAndGet());
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
