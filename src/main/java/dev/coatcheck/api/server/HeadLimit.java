package dev.coatcheck.api.server;

import dev.coatcheck.core.observe.Event;
import dev.coatcheck.core.observe.Observer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.jspecify.annotations.Nullable;

/**
 * Limits the memory of incomplete request heads. Jetty bounds one head to 8 KiB, but short headers
 * take thirty times their bytes, and thousands of connections may each hold some. Beyond the limit
 * the oldest unfinished heads end with their connections: an honest head is complete within
 * milliseconds.
 */
final class HeadLimit extends HttpConnectionFactory {
  private static final int HEADERS_MAX = 100;
  private static final long BYTES_MAX = 32L << 20;

  /** An incomplete line, and the parser. */
  private static final long BYTES_EACH = 12 * 1024;

  /** What a header takes beside its text. */
  private static final long BYTES_EACH_HEADER = 200;

  private final Observer observer;
  private final Map<Counting, Long> unfinished = new LinkedHashMap<>();
  private long bytes;

  HeadLimit(HttpConfiguration configuration, Observer observer) {
    super(configuration);
    this.observer = observer;
  }

  @Override
  public Connection newConnection(Connector connector, EndPoint endPoint) {
    Counting connection = new Counting(getHttpConfiguration(), connector, endPoint);
    connection.setTransferEncodingChunkMaxLength(getTransferEncodingChunkMaxLength());
    return configure(connection, connector, endPoint);
  }

  private void note(Counting connection) {
    List<Counting> dropped = new ArrayList<>();
    synchronized (unfinished) {
      if (connection.isHeadUnfinished) {
        // A key that is there keeps its position: another byte makes no head younger.
        long held = BYTES_EACH + connection.headBytes;
        Long before = unfinished.put(connection, held);
        bytes += held - (before == null ? 0 : before);
      } else {
        Long before = unfinished.remove(connection);
        bytes -= before == null ? 0 : before;
      }
      for (Iterator<Map.Entry<Counting, Long>> oldest = unfinished.entrySet().iterator();
          bytes > BYTES_MAX && oldest.hasNext(); ) {
        Map.Entry<Counting, Long> next = oldest.next();
        bytes -= next.getValue();
        dropped.add(next.getKey());
        oldest.remove();
      }
    }
    for (Counting old : dropped) {
      observer.observe(new Event.HeadDropped());
      old.getEndPoint().close();
    }
  }

  /** Counts what the head that is being read holds so far. */
  private final class Counting extends HttpConnection {
    private volatile boolean isHeadUnfinished;
    private volatile long headBytes;
    private volatile boolean isNoted;

    Counting(HttpConfiguration configuration, Connector connector, EndPoint endPoint) {
      super(configuration, connector, endPoint);
    }

    @Override
    protected RequestHandler newRequestHandler() {
      return new CountingHandler();
    }

    @Override
    public void onFillable() {
      super.onFillable();
      // Nearly all heads come in one piece and need no lock.
      if (isHeadUnfinished || isNoted) {
        isNoted = isHeadUnfinished;
        note(this);
      }
    }

    @Override
    public void onClose(@Nullable Throwable cause) {
      super.onClose(cause);
      isHeadUnfinished = false;
      note(this);
    }

    private final class CountingHandler extends RequestHandler {
      private int headers;

      @Override
      public void messageBegin() {
        headers = 0;
        headBytes = 0;
        isHeadUnfinished = true;
        super.messageBegin();
      }

      @Override
      public void startRequest(String method, String uri, HttpVersion version) {
        headBytes = 2L * uri.length();
        super.startRequest(method, uri, version);
      }

      @Override
      public void parsedHeader(HttpField field) {
        headers++;
        if (headers > HEADERS_MAX) {
          throw new HttpException.RuntimeException(HttpStatus.REQUEST_HEADER_FIELDS_TOO_LARGE_431);
        }
        String value = field.getValue();
        headBytes =
            headBytes
                + BYTES_EACH_HEADER
                + field.getName().length()
                + (value == null ? 0 : value.length());
        super.parsedHeader(field);
      }

      @Override
      public boolean headerComplete() {
        isHeadUnfinished = false;
        return super.headerComplete();
      }

      /** Trailers are allowed, and of no use here. */
      @Override
      public void parsedTrailer(HttpField field) {}

      @Override
      public void badMessage(HttpException failure) {
        isHeadUnfinished = false;
        super.badMessage(failure);
      }
    }
  }
}
