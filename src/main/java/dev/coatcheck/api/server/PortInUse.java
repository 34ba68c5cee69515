package dev.coatcheck.api.server;

import java.net.BindException;
import java.nio.channels.UnresolvedAddressException;

/** Another program listens on the address. The message is one line for the operator. */
public final class PortInUse extends Exception {
  private PortInUse(String host, int port, String reason, Throwable cause) {
    super(
        "Can't listen on %s:%s: %s. Choose another address with COATCHECK_PORT, _PUBLIC_PORT, _MANAGEMENT_PORT or _HOST."
            .formatted(host, port, reason),
        cause);
  }

  static PortInUse unlessOther(RuntimeException thrown, String host, int port) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof BindException) {
        return new PortInUse(host, port, String.valueOf(cause.getMessage()), cause);
      }
      if (cause instanceof UnresolvedAddressException) {
        return new PortInUse(host, port, "unknown host", cause);
      }
    }
    throw thrown;
  }
}
