package dev.coatcheck.app.client;

import dev.coatcheck.core.file.FileWords;
import dev.coatcheck.core.file.InputFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The certificates of a file, which are trusted instead of those of the JDK. */
final class TrustedCertificates {
  private TrustedCertificates() {}

  /**
   * @throws Misused if it has no certificates
   */
  static SSLContext in(Path pem) throws Misused {
    try (InputStream file = InputFile.open(pem)) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
        store.setCertificateEntry("trusted " + store.size(), each);
      }
      if (store.size() > 0) {
        TrustManagerFactory factory =
            TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, factory.getTrustManagers(), null);
        return context;
      }
    } catch (IOException unreadable) {
      throw unreadable(pem, FileWords.why(unreadable));
    } catch (CertificateException malformed) {
      // Handled like a file without certificates.
    } catch (GeneralSecurityException missing) {
      throw new IllegalStateException("this Java has no PKCS12 or no TLS", missing);
    }
    throw unreadable(pem, "it holds none.");
  }

  private static Misused unreadable(Path pem, String why) {
    return new Misused("can't read certificates in PEM from " + pem + ": " + why);
  }
}
