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
 * The connection of a client. Counts the memory of the head that is being read. After an answer
 * that another thread has sent, no thread waits for the next request.
 */
final class ClientConnection extends HttpConnection implements ReadingThreads.Resumable {
  private static final int HEADERS_MAX = 100;

  /** The overhead of a header besides its text. */
  private static final long BYTES_EACH_HEADER = 200;

  private final Consumer<ClientConnection> headChanged;
  private volatile boolean isHeadUnfinished;
  private volatile long headBytes;
  private volatile boolean isNoted;

  /**
   * @param headChanged is told of each incomplete head, and of its end
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
    // Nearly all heads arrive in one piece and need no lock.
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

  /**
   * As Jetty does if there is nothing to read: returns the buffers, registers read interest. Not
   * under TLS, whose buffers may hold a request that was read from the socket before: there a
   * thread reads again, as Jetty has it.
   */
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

    /** Trailers are allowed and ignored. */
    @Override
    public void parsedTrailer(HttpField field) {}

    @Override
    public void badMessage(HttpException failure) {
      isHeadUnfinished = false;
      super.badMessage(failure);
    }
  }
}
