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
  private static final String COMMITTED = "COMMIT\0";

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
   * @param isAtCommit not at the statement itself but at the commit that follows it: the server
   *     commits, and its answer is swallowed
   */
  public record Trap(String text, boolean isPassedOn, boolean isForAll, boolean isAtCommit) {
    public Trap(String text, boolean isPassedOn, boolean isForAll) {
      this(text, isPassedOn, isForAll, false);
    }
  }

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
    if (server.isClosed()) {
      end(near); // accepted just before the end, and not among those that were cut
    }
    try (near;
        Socket far = new Socket(InetAddress.getLoopbackAddress(), targetPort)) {
      sockets.add(far);
      Fate fate = new Fate(new AtomicBoolean(), new AtomicBoolean());
      Thread back = Thread.ofPlatform().daemon().start(() -> copy(far, near, fate, false));
      copy(near, far, fate, true);
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

  /**
   * Of one connection.
   *
   * @param isStuck nothing passes any more
   * @param awaitsCommit the statement of a trap was sent, whose commit is to come
   */
  private record Fate(AtomicBoolean isStuck, AtomicBoolean awaitsCommit) {}

  private void copy(Socket from, Socket to, Fate fate, boolean isFromClient) {
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[8_192];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        Optional<Trap> sprung =
            isFromClient ? sprung(buffer, read, fate) : committed(buffer, read, fate);
        if (sprung.isEmpty()) {
          awaitThaw(to, fate);
          out.write(buffer, 0, read);
        } else if (sprung.get().isPassedOn() && !sprung.get().isAtCommit()) {
          awaitThaw(to, fate);
          freeze(sprung.get(), fate); // before the server can answer
          out.write(buffer, 0, read);
          trap = Optional.empty();
        } else { // what springs a trap at a commit is the answer itself
          freeze(sprung.get(), fate);
          trap = Optional.empty();
          awaitThaw(to, fate);
          out.write(buffer, 0, read);
        }
      }
      // The other side doesn't hear of an end either.
      awaitThaw(to, fate);
    } catch (IOException broken) {
      // Either side may go at any time; that is what this is for.
    } finally {
      end(from);
      end(to);
    }
  }

  private Optional<Trap> sprung(byte[] buffer, int length, Fate fate) {
    Optional<Trap> set = trap.filter(one -> has(buffer, length, one.text()));
    if (set.isPresent() && set.get().isAtCommit()) {
      fate.awaitsCommit().set(true);
      return Optional.empty();
    }
    return set;
  }

  /** The server says so. */
  private Optional<Trap> committed(byte[] buffer, int length, Fate fate) {
    return fate.awaitsCommit().get() && has(buffer, length, COMMITTED) ? trap : Optional.empty();
  }

  private static boolean has(byte[] buffer, int length, String text) {
    return new String(buffer, 0, length, StandardCharsets.ISO_8859_1).contains(text);
  }

  private void freeze(Trap sprung, Fate fate) {
    if (sprung.isForAll()) {
      frozen = true;
    } else {
      fate.isStuck().set(true);
    }
  }

  private void awaitThaw(Socket to, Fate fate) {
    while ((frozen || fate.isStuck().get()) && !to.isClosed() && !server.isClosed()) {
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
