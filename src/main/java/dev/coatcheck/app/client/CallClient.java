package dev.coatcheck.app.client;

import java.net.http.HttpClient;
import java.security.GeneralSecurityException;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/** Creates the JDK's HTTP client for calls to a gateway. */
final class CallClient {
  private static final Duration CONNECT_MAX = Duration.ofSeconds(3);

  private CallClient() {}

  static HttpClient of(String url) {
    HttpClient.Builder builder =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT_MAX);
    if (url.startsWith("http:")) {
      builder.sslContext(trustNobody());
    }
    return builder.build();
  }

  /**
   * For plain HTTP. The client sets up TLS in any case, and by default reads all root certificates
   * of the JDK, which takes longer than the call.
   */
  private static SSLContext trustNobody() {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, new TrustManager[0], null);
      return context;
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("this Java has no TLS", missing);
    }
  }
}
