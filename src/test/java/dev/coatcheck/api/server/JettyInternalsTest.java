package dev.coatcheck.api.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.eclipse.jetty.server.internal.HttpConnection;
import org.eclipse.jetty.util.Jetty;
import org.junit.jupiter.api.Test;

class JettyInternalsTest {
  private static final String CHECKED_VERSION = "12.1.12";

  @Test
  void anotherVersionOfJettyIsCheckedBeforeItIsUsed() {
    assertThat(Jetty.VERSION)
        .as(
            """
            ClientConnection extends %s, which is internal to Jetty. Read what changed in that class \
            since %s: onFillable(), onClose(), newRequestHandler() and isRequestBufferEmpty() must \
            still mean the same, and after an asynchronous answer the connection must still be \
            handed to the thread pool as a Runnable. Run ClientConnectionTest, KeepAliveTest and \
            ManyConnectionsTest, then change the version here \
            (docs/decisions/018-jetty-internals.md).\
            """,
            HttpConnection.class.getName(), CHECKED_VERSION)
        .isEqualTo(CHECKED_VERSION);
  }
}
