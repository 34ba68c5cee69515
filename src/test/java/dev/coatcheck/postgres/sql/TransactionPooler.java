package dev.coatcheck.postgres.sql;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.LinkedBlockingDeque;

/**
 * What a pooler in transaction mode does, for machines without one: a client has a backend from the
 * first message of a transaction to its end, and then the next client has it. The first clients log
 * in for the backends; later ones are let in without being asked.
 */
public final class TransactionPooler implements AutoCloseable {
  private static final int SSL_REQUEST = 80877103;
  private static final int GSS_REQUEST = 80877104;

  private final ServerSocket door;
  private final URI server;
  private final TestDatabase database;
  private final int backendsMax;
  private final boolean goesRound;
  private final BlockingDeque<Backend> resting = new LinkedBlockingDeque<>();
  private final ByteArrayOutputStream greeting = new ByteArrayOutputStream();
  private int backends;

  /** A side of the wire, message by message. */
  private record Backend(Socket socket, DataInputStream in, DataOutputStream out) {
    static Backend of(Socket socket) throws IOException {
      socket.setTcpNoDelay(true);
      return new Backend(
          socket,
          new DataInputStream(socket.getInputStream()),
          new DataOutputStream(new BufferedOutputStream(socket.getOutputStream())));
    }

    /** The next message, with its type. */
    byte[] read() throws IOException {
      byte type = in.readByte();
      int length = in.readInt();
      byte[] message = new byte[1 + length];
      message[0] = type;
      message[1] = (byte) (length >> 24);
      message[2] = (byte) (length >> 16);
      message[3] = (byte) (length >> 8);
      message[4] = (byte) length;
      in.readFully(message, 5, length - 4);
      return message;
    }

    void write(byte[] message) throws IOException {
      out.write(message);
      out.flush();
    }
  }

  /**
   * Begins to listen.
   *
   * @param goesRound each transaction gets the backend that has rested longest, else the last one
   */
  public TransactionPooler(TestDatabase database, int backendsMax, boolean goesRound) {
    try {
      this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    this.server = URI.create(database.url().substring("jdbc:".length()));
    this.backendsMax = backendsMax;
    this.goesRound = goesRound;
    this.database =
        new TestDatabase(
            database.url().replaceFirst("//[^/]+/", "//127.0.0.1:" + door.getLocalPort() + "/"),
            database.user(),
            database.password());
    Thread.ofVirtual().start(this::accept);
  }

  /** The database, through it. */
  public TestDatabase database() {
    return database;
  }

  private void accept() {
    while (!door.isClosed()) {
      try {
        Socket socket = door.accept();
        Thread.ofVirtual().start(() -> serve(socket));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void serve(Socket socket) {
    try (socket) {
      Backend client = Backend.of(socket);
      greet(client, startup(client));
      while (transaction(client)) {
        // One after another.
      }
    } catch (IOException | InterruptedException gone) {
      // So is the client.
    }
  }

  /** What the client begins with, length and all; encryption is refused. */
  private static byte[] startup(Backend client) throws IOException {
    while (true) {
      int length = client.in().readInt();
      int code = client.in().readInt();
      if (code == SSL_REQUEST || code == GSS_REQUEST) {
        client.write(new byte[] {'N'});
      } else {
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(whole);
        out.writeInt(length);
        out.writeInt(code);
        out.write(client.in().readNBytes(length - 8));
        return whole.toByteArray();
      }
    }
  }

  private void greet(Backend client, byte[] startup) throws IOException {
    synchronized (greeting) {
      if (backends < backendsMax) {
        backends++;
        Backend backend = Backend.of(new Socket(server.getHost(), server.getPort()));
        backend.write(startup);
        logIn(client, backend);
        resting.addLast(backend);
        return;
      }
    }
    client.write(new byte[] {'R', 0, 0, 0, 8, 0, 0, 0, 0});
    client.write(greeting.toByteArray());
    client.write(new byte[] {'Z', 0, 0, 0, 5, 'I'});
  }

  private void logIn(Backend client, Backend backend) throws IOException {
    greeting.reset();
    while (true) {
      byte[] message = backend.read();
      client.write(message);
      switch (message[0]) {
        case 'R' -> {
          boolean isAsking = message[8] != 0 && message[8] != 12;
          if (isAsking) {
            backend.write(client.read());
          }
        }
        case 'S', 'K' -> greeting.write(message);
        case 'E' -> throw new IOException("login refused");
        case 'Z' -> {
          return;
        }
        default -> {}
      }
    }
  }

  /** False once the client has left. */
  private boolean transaction(Backend client) throws IOException, InterruptedException {
    byte[] first = client.read();
    if (first[0] == 'X') {
      return false;
    }
    Backend backend = resting.takeFirst();
    try {
      byte state = 0;
      for (byte[] message = first; state != 'I'; ) {
        backend.write(message);
        if (message[0] == 'Q' || message[0] == 'S') {
          state = answer(client, backend);
        }
        if (state != 'I') {
          message = client.read();
        }
      }
    } finally {
      if (goesRound) {
        resting.addLast(backend);
      } else {
        resting.addFirst(backend);
      }
    }
    return true;
  }

  private static byte answer(Backend client, Backend backend) throws IOException {
    while (true) {
      byte[] message = backend.read();
      client.write(message);
      if (message[0] == 'Z') {
        return message[5];
      }
    }
  }

  @Override
  public void close() {
    try {
      door.close();
      for (Backend backend : resting) {
        backend.socket().close();
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
