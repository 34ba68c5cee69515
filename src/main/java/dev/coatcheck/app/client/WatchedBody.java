package dev.coatcheck.app.client;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A body that breaks off once a read has waited too long for a byte: where the other machine
 * vanishes, a connection doesn't end by itself. A slow reader of the body isn't counted.
 */
final class WatchedBody extends FilterInputStream {
  private final Duration silenceMax;
  private volatile boolean isSilent;

  WatchedBody(InputStream body, Duration silenceMax) {
    super(body);
    this.silenceMax = silenceMax;
  }

  @FunctionalInterface
  private interface Read {
    int read() throws IOException;
  }

  @Override
  public int read() throws IOException {
    return watched(in::read);
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    return watched(() -> in.read(bytes, offset, length));
  }

  private int watched(Read read) throws IOException {
    CompletableFuture<Void> silence =
        new CompletableFuture<Void>()
            .completeOnTimeout(null, silenceMax.toNanos(), TimeUnit.NANOSECONDS);
    CompletableFuture<Void> _ = silence.thenRun(this::breakOff);
    try {
      int got = read.read();
      if (got < 0 && isSilent) {
        throw silent(); // the end of a closed body looks like that of a complete one
      }
      return got;
    } catch (IOException closed) {
      throw isSilent ? silent() : closed;
    } finally {
      silence.cancel(false);
    }
  }

  private void breakOff() {
    isSilent = true;
    try {
      in.close();
    } catch (IOException broken) {
      // The read ends with it.
    }
  }

  private IOException silent() {
    return new IOException("no byte came for " + silenceMax.toSeconds() + " s");
  }
}
