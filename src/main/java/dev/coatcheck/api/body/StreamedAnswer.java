package dev.coatcheck.api.body;

import io.javalin.http.Context;
import java.io.IOException;
import java.io.OutputStream;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.io.EndPoint;

/**
 * An answer that is sent while it is generated, to a reader with a minimum rate. It starts with its
 * first byte: after an earlier failure a problem can still be sent.
 */
public final class StreamedAnswer extends OutputStream {
  private final Context ctx;
  private final String fileName;
  private final String contentType;
  private final EndPoint connection;
  private final Pace pace;
  private boolean begun;

  /** Answers with a file as soon as there is a byte of it. Close this before the request ends. */
  public StreamedAnswer(Context ctx, String fileName, String contentType) {
    this.ctx = ctx;
    this.fileName = fileName;
    this.contentType = contentType;
    this.connection =
        ServletContextRequest.getServletContextRequest(ctx.req())
            .getConnectionMetaData()
            .getConnection()
            .getEndPoint();
    this.pace = Pace.watch(this::abort);
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

  private void head() {
    if (!begun) {
      begun = true;
      ctx.status(200).contentType(contentType);
      ctx.header("Content-Disposition", "attachment; filename=\"" + fileName + "\"");
      ctx.header("Cache-Control", "no-store");
    }
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    head();
    int taken = 0;
    pace.waits();
    try {
      ctx.res().getOutputStream().write(bytes, offset, length);
      taken = length;
    } finally {
      pace.moved(taken);
    }
  }

  /** Whether the answer was cut off because its reader was too slow. */
  public boolean isTooSlow() {
    return pace.isTooSlow();
  }

  /** Closes the connection. If the body just ended, it would look complete. */
  public void abort() {
    connection.close();
  }

  @Override
  public void close() {
    pace.close();
  }
}
