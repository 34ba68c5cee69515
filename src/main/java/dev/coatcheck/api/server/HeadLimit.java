package dev.coatcheck.api.server;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;

/**
 * Limits the memory of incomplete request heads. Jetty limits a head to 8 KiB, but short headers
 * take thirty times their bytes, and thousands of connections may each hold some. Above the limit,
 * the connections with the oldest incomplete heads are closed: a normal head is complete within
 * milliseconds.
 */
final class HeadLimit extends HttpConnectionFactory {
  private static final long BYTES_MAX = 32L << 20;

  /** An incomplete line, and the parser. */
  private static final long BYTES_EACH = 12 * 1024;

  private final Observer observer;
  private final Map<ClientConnection, Long> unfinished = new LinkedHashMap<>();
  private long bytes;

  HeadLimit(HttpConfiguration configuration, Observer observer) {
    super(configuration);
    this.observer = observer;
  }

  @Override
  public Connection newConnection(Connector connector, EndPoint endPoint) {
    ClientConnection connection =
        new ClientConnection(getHttpConfiguration(), connector, endPoint, this::note);
    connection.setTransferEncodingChunkMaxLength(getTransferEncodingChunkMaxLength());
    return configure(connection, connector, endPoint);
  }

  private void note(ClientConnection connection) {
    List<ClientConnection> dropped = new ArrayList<>();
    synchronized (unfinished) {
      if (connection.isHeadUnfinished()) {
        // put() keeps the insertion order, so that more bytes don't reset a head's age.
        long held = BYTES_EACH + connection.headBytes();
        Long before = unfinished.put(connection, held);
        bytes += held - (before == null ? 0 : before);
      } else {
        Long before = unfinished.remove(connection);
        bytes -= before == null ? 0 : before;
      }
      for (Iterator<Map.Entry<ClientConnection, Long>> oldest = unfinished.entrySet().iterator();
          bytes > BYTES_MAX && oldest.hasNext(); ) {
        Map.Entry<ClientConnection, Long> next = oldest.next();
        bytes -= next.getValue();
        dropped.add(next.getKey());
        oldest.remove();
      }
    }
    for (ClientConnection old : dropped) {
      observer.observe(new Event.HeadDropped());
      old.getEndPoint().close();
    }
  }
}
