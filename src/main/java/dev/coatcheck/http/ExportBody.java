package dev.coatcheck.http;

import dev.coatcheck.rows.RowFormat;
import io.javalin.http.Context;
import java.io.IOException;
import java.io.OutputStream;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;

/**
 * An answer that is sent while it is made. It has a status only from its first byte on, so that
 * whatever fails before can still be told.
 */
final class ExportBody extends OutputStream {
  private final Context ctx;
  private final String fileName;
  private final RowFormat format;
  private boolean begun;

  ExportBody(Context ctx, String fileName, RowFormat format) {
    this.ctx = ctx;
    this.fileName = fileName;
    this.format = format;
  }

  @Override
  public void write(int one) throws IOException {
    write(new byte[] {(byte) one}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    if (!begun) {
      begun = true;
      ctx.status(200).contentType(format.mediaType() + "; charset=utf-8");
      ctx.header("Content-Disposition", "attachment; filename=\"" + fileName + "\"");
      ctx.header("Cache-Control", "no-store");
    }
    ctx.res().getOutputStream().write(bytes, offset, length);
  }

  /** Cuts the connection: a body that just ended would look complete. */
  void abort() {
    ServletContextRequest.getServletContextRequest(ctx.req())
        .getConnectionMetaData()
        .getConnection()
        .getEndPoint()
        .close();
  }
}
