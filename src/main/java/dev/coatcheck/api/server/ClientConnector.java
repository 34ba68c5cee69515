package dev.coatcheck.api.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.Scheduler;
import org.jspecify.annotations.Nullable;

/** Accepts the connections of clients. */
final class ClientConnector extends ServerConnector {
  /** Of the threads that accept connections. */
  private static final int JETTYS_CHOICE = -1;

  /**
   * Prepares to accept.
   *
   * @param selectors threads that read requests
   */
  ClientConnector(Server server, int selectors, ConnectionFactory connections) {
    super(server, JETTYS_CHOICE, selectors, connections);
  }

  @Override
  protected SocketChannelEndPoint newEndPoint(
      SocketChannel channel, ManagedSelector selector, SelectionKey key) {
    SocketEnd end = new SocketEnd(channel, selector, key, getScheduler());
    end.setIdleTimeout(getIdleTimeout());
    return end;
  }

  /** Our end of a client's connection. */
  static final class SocketEnd extends SocketChannelEndPoint {
    private volatile @Nullable Thread unreading;

    private SocketEnd(
        SocketChannel channel, ManagedSelector selector, SelectionKey key, Scheduler scheduler) {
      super(channel, selector, key, scheduler);
    }

    /**
     * Does work in which each read by this thread finds nothing, though the client may have sent
     * more.
     */
    void withoutReading(Runnable work) {
      unreading = Thread.currentThread();
      try {
        work.run();
      } finally {
        unreading = null;
      }
    }

    @Override
    public int fill(ByteBuffer buffer) throws IOException {
      return Thread.currentThread().equals(unreading) ? 0 : super.fill(buffer);
    }
  }
}
