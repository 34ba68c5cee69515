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
  /** The number of threads that accept connections. */
  private static final int JETTYS_CHOICE = -1;

  /**
   * How much of an answer the kernel buffers; its own bookkeeping doubles that. By default it would
   * take some MB for each client that doesn't read.
   */
  private static final int SEND_BUFFER_BYTES = 128 << 10;

  /** How long a client may read nothing of an answer. */
  private static final long STALLED_MILLIS_MAX = 30_000;

  /**
   * @param selectors threads that read requests
   * @param connections from the socket up: TLS, if there is any, then HTTP
   */
  ClientConnector(Server server, int selectors, ConnectionFactory... connections) {
    super(server, JETTYS_CHOICE, selectors, connections);
    setAcceptedSendBufferSize(SEND_BUFFER_BYTES);
  }

  @Override
  protected SocketChannelEndPoint newEndPoint(
      SocketChannel channel, ManagedSelector selector, SelectionKey key) {
    SocketEnd end = new SocketEnd(channel, selector, key, getScheduler());
    end.setIdleTimeout(getIdleTimeout());
    return end;
  }

  /** The gateway's end of a client's connection. */
  static final class SocketEnd extends SocketChannelEndPoint {
    private volatile @Nullable Thread unreading;
    private volatile boolean isStalled;
    private volatile long usualIdleMillis;

    private SocketEnd(
        SocketChannel channel, ManagedSelector selector, SelectionKey key, Scheduler scheduler) {
      super(channel, selector, key, scheduler);
    }

    /**
     * Does work in which each read by this thread finds nothing, even if the client has sent more.
     */
    void withoutReading(Runnable work) {
      unreading = Thread.currentThread();
      try {
        work.run();
      } finally {
        unreading = null;
      }
    }

    /** A stalled client gets less, and this again once it reads. */
    @Override
    public void setIdleTimeout(long millis) {
      usualIdleMillis = millis;
      applyIdleTimeout();
    }

    /** Again if something changes meanwhile: the last one to do this does it right. */
    private void applyIdleTimeout() {
      long millis;
      do {
        millis = idleMillis();
        super.setIdleTimeout(millis);
      } while (millis != idleMillis());
    }

    private long idleMillis() {
      return isStalled ? Math.min(STALLED_MILLIS_MAX, usualIdleMillis) : usualIdleMillis;
    }

    /** The client reads no more for now. */
    @Override
    protected void onIncompleteFlush() {
      isStalled = true;
      applyIdleTimeout();
      super.onIncompleteFlush();
    }

    @Override
    public boolean flush(ByteBuffer... buffers) throws IOException {
      boolean isDone = super.flush(buffers);
      if (isDone && isStalled) {
        isStalled = false;
        applyIdleTimeout();
      }
      return isDone;
    }

    @Override
    public int fill(ByteBuffer buffer) throws IOException {
      return Thread.currentThread().equals(unreading) ? 0 : super.fill(buffer);
    }
  }
}
