package dev.coatcheck.app.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** Creates the JDK's HTTP client for calls to a gateway. */
final class CallClient {
  private static final Duration CONNECT_MAX = Duration.ofSeconds(3);

  private CallClient() {}

  /**
   * Makes a client.
   *
   * @param trusted PEM file of the certificates that are trusted instead of those of the JDK
   */
  static HttpClient of(String url, Optional<Path> trusted) throws CommandFailed {
    HttpClient.Builder builder =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT_MAX);
    if (url.startsWith("http:")) {
      builder.sslContext(trusting(new TrustManager[0]));
    } else if (trusted.isPresent()) {
      builder.sslContext(trusting(managers(trusted.get())));
    }
    return builder.build();
  }

  /**
   * For plain HTTP nobody is trusted. The client sets up TLS in any case, and by default reads all
   * root certificates of the JDK, which takes longer than the call.
   */
  private static SSLContext trusting(TrustManager[] managers) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers, null);
      return context;
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("this Java has no TLS", missing);
    }
  }

  private static TrustManager[] managers(Path trusted) throws CommandFailed {
    try (InputStream file = Files.newInputStream(trusted)) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
        store.setCertificateEntry("trusted " + store.size(), each);
      }
      if (store.size() > 0) {
        TrustManagerFactory factory =
            TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
      }
    } catch (IOException | CertificateException unreadable) {
      // Handled like a file without certificates.
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("this Java has no PKCS12", missing);
    }
    throw new CommandFailed("can't read certificates in PEM from " + trusted + ".");
  }
}
