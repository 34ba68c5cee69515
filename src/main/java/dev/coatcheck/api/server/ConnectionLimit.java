package dev.coatcheck.api.server;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import java.lang.management.ManagementFactory;
import java.nio.channels.SelectableChannel;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Limits the open connections. At the limit the next connection is closed, and further ones wait in
 * the kernel's queue. Idle connections then end after 5 s instead of 60 s, until a tenth of the
 * limit is free again.
 *
 * <p>Jetty's own limit changes the timeouts of all connections each time it is reached or left: at
 * the limit, that is with every new connection. This class does it once per tenth of the limit.
 */
final class ConnectionLimit extends NetworkConnectionLimit implements Connection.Listener {
  private static final long IDLE_MILLIS = 60_000;
  private static final long IDLE_MILLIS_WHILE_CROWDED = 5_000;

  /** For the database, files and libraries, besides the connections of clients. */
  private static final int DESCRIPTORS_RESERVED = 200;

  private final ServerConnector connector;
  private final Observer observer;

  /** Zero, or how often the limit was reached: who leaves it may be late, and not the last one. */
  private final AtomicLong crowded = new AtomicLong();

  /** Guarded by the lock of {@link NetworkConnectionLimit}. */
  private long reached;

  private ConnectionLimit(int connectionsMax, ServerConnector connector, Observer observer) {
    super(connectionsMax, connector);
    this.connector = connector;
    this.observer = observer;
  }

  /**
   * Sets the limit, or a lower one if the process has too few file descriptors.
   *
   * @param ports that share the descriptors, each with its own limit
   */
  static void set(int connectionsMax, int ports, ServerConnector connector, Observer observer) {
    int possible = possible(descriptors(), ports);
    if (possible < connectionsMax) {
      observer.observe(new Event.ConnectionsLowered(connectionsMax, possible));
    }
    connector.setIdleTimeout(IDLE_MILLIS);
    connector
        .getServer()
        .addBean(new ConnectionLimit(Math.min(connectionsMax, possible), connector, observer));
  }

  /** The caller holds the lock of {@link NetworkConnectionLimit}. */
  @Override
  protected void limit() {
    super.limit();
    observer.observe(new Event.ConnectionsFull(getMaxNetworkConnectionCount()));
    if (crowded.getAndSet(++reached) == 0) {
      endIdleInTime();
    }
  }

  @Override
  public void onAccepting(SelectableChannel channel) {
    super.onAccepting(channel);
    if (!channel.isOpen()) {
      observer.observe(new Event.ConnectionRefused());
    }
  }

  @Override
  public void onClosed(SelectableChannel channel) {
    super.onClosed(channel);
    long seen = crowded.get();
    if (seen > 0
        && taken() < getMaxNetworkConnectionCount() * 0.9
        && crowded.compareAndSet(seen, 0)) {
      endIdleInTime();
    }
  }

  /**
   * Counts open connections and those that are being accepted, as the limit does. The latter are
   * read first, so that a connection which is opened in between counts twice instead of not at all.
   */
  private int taken() {
    int pending = getPendingNetworkConnectionCount();
    return pending + getNetworkConnectionCount();
  }

  /** A new connection gets the usual idle timeout, unless the limit is reached. */
  @Override
  public void onOpened(Connection connection) {
    if (isCrowded()) {
      connection.getEndPoint().setIdleTimeout(IDLE_MILLIS_WHILE_CROWDED);
    }
  }

  /** Again if the limit is reached or left meanwhile: the last one to do this does it right. */
  private void endIdleInTime() {
    boolean before;
    do {
      before = isCrowded();
      for (EndPoint endPoint : connector.getConnectedEndPoints()) {
        endPoint.setIdleTimeout(before ? IDLE_MILLIS_WHILE_CROWDED : IDLE_MILLIS);
      }
    } while (before != isCrowded());
  }

  private boolean isCrowded() {
    return crowded.get() > 0;
  }

  /** How many connections each port can have. */
  static int possible(long descriptors, int ports) {
    return Math.clamp(
        (descriptors - DESCRIPTORS_RESERVED) / ports, DESCRIPTORS_RESERVED, Integer.MAX_VALUE);
  }

  private static long descriptors() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : Long.MAX_VALUE;
  }
}
