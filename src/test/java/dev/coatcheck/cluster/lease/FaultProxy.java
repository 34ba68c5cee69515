package dev.coatcheck.cluster.lease;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** A TCP hop to Postgres that can be frozen, cut and pointed elsewhere. */
public final class FaultProxy implements AutoCloseable {
  private final ServerSocket server;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile int targetPort;
  private volatile boolean frozen;

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
      Thread back = Thread.ofPlatform().daemon().start(() -> copy(far, near));
      copy(near, far);
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

  private void copy(Socket from, Socket to) {
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] buffer = new byte[8_192];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        while (frozen) {
          LockSupport.parkNanos(5_000_000);
        }
        out.write(buffer, 0, read);
        out.flush();
      }
    } catch (IOException broken) {
      // Either side may go at any time; that is what this is for.
    } finally {
      end(from);
      end(to);
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
    server.close();
    cut();
  }
}
