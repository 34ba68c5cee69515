package dev.coatcheck.api.body;

import java.io.IOException;
import java.io.InputStream;

/** The body of a request. It is cut off if its sender is slower than a minimum rate. */
public final class PacedBody extends InputStream {
  private final InputStream body;
  private final Pace pace;

  /** Created, read and closed by the same thread. */
  public PacedBody(InputStream body) {
    this.body = body;
    this.pace = Pace.watch(Thread.currentThread()::interrupt);
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    int read = -1;
    pace.waits();
    try {
      read = body.read(bytes, offset, length);
    } finally {
      pace.moved(Math.max(0, read));
      if (pace.isTooSlow()) {
        // Clears the interrupt for this body, so that it doesn't end a later wait of this thread.
        var _ = Thread.interrupted();
      }
    }
    if (pace.isTooSlow()) {
      throw new IOException("the sender is too slow");
    }
    return read;
  }

  /** Whether the body was cut off because its sender was too slow. */
  public boolean isTooSlow() {
    return pace.isTooSlow();
  }

  /** Leaves the body itself open: the server reads the rest of it. */
  @Override
  public void close() {
    pace.close();
  }
}
