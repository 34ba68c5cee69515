package dev.coatcheck;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

/** A port of this machine that nothing listens on. */
public final class FreePort {
  private FreePort() {}

  /** One that was free a moment ago, for programs that can't look for one themselves. */
  public static int next() {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
