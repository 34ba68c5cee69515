package dev.coatcheck.api.server;

import io.javalin.http.Context;
import java.io.IOException;
import java.io.OutputStream;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;

/**
 * An answer that is sent while it is made. It has a status only from its first byte on, so that
 * whatever fails before can still be told.
 */
public final class StreamedAnswer extends OutputStream {
  private final Context ctx;
  private final String fileName;
  private final String contentType;
  private boolean begun;

  /** Answers with a file, once there is a byte of it. */
  public StreamedAnswer(Context ctx, String fileName, String contentType) {
    this.ctx = ctx;
    this.fileName = fileName;
    this.contentType = contentType;
  }

  @Override
  public void write(int one) throws IOException {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    if (!begun) {
      begun = true;
      ctx.status(200).contentType(contentType);
      ctx.header("Content-Disposition", "attachment; filename=\"" + fileName + "\"");
      ctx.header("Cache-Control", "no-store");
    }
    ctx.res().getOutputStream().write(bytes, offset, length);
  }

  /** Cuts the connection: a body that just ended would look complete. */
  public void abort() {
    ServletContextRequest.getServletContextRequest(ctx.req())
        .getConnectionMetaData()
        .getConnection()
        .getEndPoint()
        .close();
  }
}
