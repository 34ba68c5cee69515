package dev.coatcheck.api.server;

import java.io.IOException;
import java.io.InputStream;

/** The body of a request whose sender keeps up a minimum rate; one that doesn't breaks off. */
public final class PacedBody extends InputStream {
  private final InputStream body;
  private final Pace pace;

  /** To be made on the thread that reads, and closed by it. */
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
        // What this thread waits for later must not end by the interrupt that was meant for this.
        var _ = Thread.interrupted();
      }
    }
    if (pace.isTooSlow()) {
      throw new IOException("the sender is too slow");
    }
    return read;
  }

  /** Whether it broke off because its sender was too slow. */
  public boolean isTooSlow() {
    return pace.isTooSlow();
  }

  /** Leaves the body itself open: the server reads what is left of it. */
  @Override
  public void close() {
    pace.close();
  }
}
