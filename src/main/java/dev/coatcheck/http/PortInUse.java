package dev.coatcheck.http;

import java.net.BindException;

/** Somebody else listens on the port. The message is one line for the operator. */
public final class PortInUse extends Exception {
  private static final long serialVersionUID = 1L;

  private PortInUse(String host, int port, Throwable cause) {
    super(
        "Can't listen on "
            + host
            + ":"
            + port
            + ": "
            + cause.getMessage()
            + ". End the other program or choose a port with COATCHECK_PORT.",
        cause);
  }

  static PortInUse unlessOther(RuntimeException thrown, String host, int port) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (cause instanceof BindException) {
        return new PortInUse(host, port, cause);
      }
    }
    throw thrown;
  }
}
