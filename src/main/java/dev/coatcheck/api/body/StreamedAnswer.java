package dev.coatcheck.api.body;

import dev.coatcheck.api.exchange.RequestAccess;
import io.javalin.http.Context;
import java.io.IOException;
import java.io.OutputStream;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.util.BufferUtil;

/**
 * An answer that is sent while it is generated, to a reader with a minimum rate. It starts with its
 * first byte: after an earlier failure a problem can still be sent.
 */
public final class StreamedAnswer extends OutputStream {
  /** A reader at the minimum rate takes a part in a second, and may be ten seconds behind. */
  private static final int PART_BYTES = 16 * 1024;

  private static final int LOOK_BYTES = 1024;

  private final Context ctx;
  private final String fileName;
  private final String contentType;
  private final EndPoint connection;
  private final Pace pace;
  private final ReaderWatch reader;
  private final CompletableFuture<Void> aborted = new CompletableFuture<>();
  private boolean begun;
  private boolean done;

  /**
   * Answers with a file as soon as there is a byte of it. Close this before the request ends.
   *
   * @param mayRead whether the client still has access; within a second or two of its end the
   *     answer is broken off
   */
  public StreamedAnswer(Context ctx, String fileName, String contentType, BooleanSupplier mayRead) {
    this.ctx = ctx;
    this.fileName = fileName;
    this.contentType = contentType;
    this.connection = connection(ctx);
    this.pace = Pace.watch(this::abort);
    this.reader = ReaderWatch.start(this::hasLeft, mayRead, this::abort);
  }

  /** Of the client of a request on a route. */
  static EndPoint connection(Context ctx) {
    return RequestAccess.request(ctx).getConnectionMetaData().getConnection().getEndPoint();
  }

  @Override
  public void write(int one) throws IOException {
    write(new byte[] {(byte) one}, 0, 1);
  }

  /** Sends the head, which is the whole answer to HEAD. */
  public void begin() throws IOException {
    head();
    ctx.res().flushBuffer();
  }

  private synchronized void head() {
    if (!begun) {
      begun = true;
      ctx.status(200).contentType(contentType);
      ctx.header("Content-Disposition", "attachment; filename=\"" + fileName + "\"");
      ctx.header("Cache-Control", "no-store");
      if (ctx.protocol().equals("HTTP/1.1")) {
        // Also where the connection ends with the answer: else a part would look like the whole.
        ctx.header("Transfer-Encoding", "chunked");
      }
    }
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    head();
    int end = offset + length;
    for (int from = offset; from < end; from += PART_BYTES) {
      writePart(bytes, from, Math.min(PART_BYTES, end - from));
    }
  }

  private void writePart(byte[] bytes, int offset, int length) throws IOException {
    int taken = 0;
    pace.waits();
    try {
      ctx.res().getOutputStream().write(bytes, offset, length);
      taken = length;
    } finally {
      pace.moved(taken);
    }
  }

  /**
   * Whether the client has closed its connection, or its half of it, before the first byte; later
   * its absence ends a write. To notice that, what the client sends meanwhile has to be read. That
   * would be its next request, so the connection ends with this answer.
   */
  private synchronized boolean hasLeft() {
    if (begun) {
      return false;
    }
    try {
      int read = connection.fill(BufferUtil.allocate(LOOK_BYTES));
      if (read > 0) {
        ctx.header("Connection", "close");
      }
      return read < 0;
    } catch (IOException gone) {
      return true;
    }
  }

  /**
   * What to do once this is aborted, on the thread that does it; at once if it was before. Must not
   * wait.
   */
  public void whenAborted(Runnable work) {
    CompletableFuture<Void> _ = aborted.thenRun(work);
  }

  /** The last byte is written. */
  public void done() {
    done = true;
  }

  /** Why the reader did not get all of it, for events. */
  public String brokenOffBy() {
    if (reader.hasAccessEnded()) {
      return "access_ended";
    }
    return pace.isTooSlow() ? "too_slow" : "client_gone";
  }

  /**
   * Closes the connection. If the body just ended, it would look complete. To a client of HTTP/1.0,
   * as a proxy may be, the end of the connection is the end of the body, unless it is a reset: so
   * what is closed is the socket itself, which sends no farewell of TLS.
   */
  private void abort() {
    EndPoint socket = connection;
    while (socket.getTransport() instanceof EndPoint inner) {
      socket = inner;
    }
    if (socket.getTransport() instanceof SocketChannel channel) {
      try {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
      } catch (IOException gone) {
        // It is closed already.
      }
    }
    socket.close();
    aborted.complete(null);
  }

  /** Cuts off an answer that was begun and not finished. */
  @Override
  public void close() {
    if (begun && !done) {
      abort();
    }
    reader.close();
    pace.close();
  }
}
