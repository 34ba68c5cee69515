package dev.coatcheck.api.server;

import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.jspecify.annotations.Nullable;

/**
 * A client's connection. Counts what the head that is being read holds so far, and waits for the
 * next request without a thread once another thread has sent the answer.
 */
final class ClientConnection extends HttpConnection implements ReadingThreads.Resumable {
  private static final int HEADERS_MAX = 100;

  /** What a header takes beside its text. */
  private static final long BYTES_EACH_HEADER = 200;

  private final Consumer<ClientConnection> headChanged;
  private volatile boolean isHeadUnfinished;
  private volatile long headBytes;
  private volatile boolean isNoted;

  /**
   * Opens a connection.
   *
   * @param headChanged hears of a head that is incomplete, and of the end of one
   */
  ClientConnection(
      HttpConfiguration configuration,
      Connector connector,
      EndPoint endPoint,
      Consumer<ClientConnection> headChanged) {
    super(configuration, connector, endPoint);
    this.headChanged = headChanged;
  }

  boolean isHeadUnfinished() {
    return isHeadUnfinished;
  }

  long headBytes() {
    return headBytes;
  }

  @Override
  protected RequestHandler newRequestHandler() {
    return new HeadCounter();
  }

  @Override
  public void onFillable() {
    super.onFillable();
    // Nearly all heads come in one piece and need no lock.
    if (isHeadUnfinished || isNoted) {
      isNoted = isHeadUnfinished;
      headChanged.accept(this);
    }
  }

  @Override
  public void onClose(@Nullable Throwable cause) {
    super.onClose(cause);
    isHeadUnfinished = false;
    headChanged.accept(this);
  }

  /** Jetty's own way of a thread that finds nothing to read: it gives back buffers, and waits. */
  @Override
  public boolean awaitNext() {
    if (isRequestBufferEmpty() && getEndPoint() instanceof ClientConnector.SocketEnd end) {
      end.withoutReading(this::onFillable);
      return true;
    }
    return false;
  }

  private final class HeadCounter extends RequestHandler {
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
