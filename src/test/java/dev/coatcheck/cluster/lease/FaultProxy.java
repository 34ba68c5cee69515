package dev.coatcheck.cluster.lease;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A TCP hop to Postgres that can be frozen, by itself at a statement too, cut and pointed
 * elsewhere.
 */
public final class FaultProxy implements AutoCloseable {
  private final ServerSocket server;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile int targetPort;
  private volatile boolean frozen;
  private volatile Optional<Trap> trap = Optional.empty();

  /**
   * Freezes at a statement.
   *
   * @param text of it
   * @param isPassedOn the server gets it, and its answer is swallowed; else it is swallowed itself
   * @param isForAll every connection freezes; else that of the statement alone
   */
  public record Trap(String text, boolean isPassedOn, boolean isForAll) {}

  public FaultProxy(int targetPort) throws IOException {
    this.targetPort = targetPort;
    this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon().start(this::accept);
  }

  public int port() {
    return server.getLocalPort();
  }

  public void target(int port) {
    targetPort = port;
  }

  /** Bytes wait on either side; connections stay open. */
  public void freeze(boolean frozenNow) {
    frozen = frozenNow;
  }

  /** Freezes once a client sends the statement of the trap. */
  public void freezeAt(Trap set) {
    trap = Optional.of(set);
  }

  /** Whether a client has sent that statement. */
  public boolean isTrapped() {
    return trap.isEmpty();
  }

  /** Ends every connection. */
  public void cut() {
    sockets.forEach(FaultProxy::end);
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket near = server.accept();
        Thread.ofPlatform().daemon().start(() -> join(near));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void join(Socket near) {
    sockets.add(near);
    try (near;
        Socket far = new Socket(InetAddress.getLoopbackAddress(), targetPort)) {
      sockets.add(far);
      AtomicBoolean stuck = new AtomicBoolean();
      Thread back = Thread.ofPlatform().daemon().start(() -> copy(far, near, stuck, false));
      copy(near, far, stuck, true);
      back.join();
      sockets.remove(far);
    } catch (IOException refused) {
      end(near);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      sockets.remove(near);
    }
  }

  private void copy(Socket from, Socket to, AtomicBoolean stuck, boolean isFromClient) {
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[8_192];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        Optional<Trap> sprung = isFromClient ? sprung(buffer, read) : Optional.empty();
        if (sprung.isPresent() && !sprung.get().isPassedOn()) {
          freeze(sprung.get(), stuck);
        }
        awaitThaw(to, stuck);
        out.write(buffer, 0, read);
        out.flush();
        if (sprung.isPresent() && sprung.get().isPassedOn()) {
          freeze(sprung.get(), stuck);
        }
      }
      // The other side doesn't hear of an end either.
      awaitThaw(to, stuck);
    } catch (IOException broken) {
      // Either side may go at any time; that is what this is for.
    } finally {
      end(from);
      end(to);
    }
  }

  private Optional<Trap> sprung(byte[] buffer, int length) {
    Optional<Trap> set = trap;
    if (set.isPresent()
        && new String(buffer, 0, length, StandardCharsets.ISO_8859_1).contains(set.get().text())) {
      return set;
    }
    return Optional.empty();
  }

  private void freeze(Trap sprung, AtomicBoolean stuck) {
    if (sprung.isForAll()) {
      frozen = true;
    } else {
      stuck.set(true);
    }
    trap = Optional.empty();
  }

  private void awaitThaw(Socket to, AtomicBoolean stuck) {
    while ((frozen || stuck.get()) && !to.isClosed() && !server.isClosed()) {
      LockSupport.parkNanos(5_000_000);
    }
  }

  private static void end(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    refuse();
  }

  /** Ends all connections, and takes no more. */
  public void refuse() throws IOException {
    server.close();
    cut();
  }
}
