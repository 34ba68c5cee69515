package dev.coatcheck.api.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.coatcheck.core.observe.Observer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CertificatesTest {
  @TempDir Path folder;

  /** Else it would be served from the next change on: at the next renewal, too late. */
  @Test
  void aSoundChangeIsTriedAgainUntilItIsServed() throws IOException {
    TlsFiles files = new TlsFiles(folder.resolve("tls.crt"), folder.resolve("tls.key"));
    Observer observer = new Observer();
    write(files, "first");
    try (Certificates certificates = Certificates.open(files, observer)) {
      SslContextFactory.Server factory = certificates.factory();
      write(files, "second");
      factory.setProtocol("none");
      assertThatThrownBy(certificates::look).isInstanceOf(IllegalStateException.class);

      factory.setProtocol("TLS");
      certificates.look();

      assertThat(observer.scrape())
          .contains("coatcheck_tls_reloads_total{outcome=\"replaced\"} 1.0");
    }
  }

  /** As when an old backup of the files is put back. */
  @Test
  void aCertificateThatHasEndedReplacesNoneThatClientsTake() throws Exception {
    TlsFiles files = new TlsFiles(folder.resolve("tls.crt"), folder.resolve("tls.key"));
    Observer observer = new Observer();
    TestCertificate valid = TestCertificate.make(folder, "valid", "EC");
    write(files, valid);
    try (Certificates certificates = Certificates.open(files, observer)) {
      SslContextFactory.Server factory = certificates.factory();
      write(files, TestCertificate.ended(folder, "ended"));

      certificates.look();

      assertThat(factory.getKeyStore().getCertificate("gateway")).isEqualTo(valid.certificate());
      assertThat(observer.scrape())
          .contains("coatcheck_tls_reloads_total{outcome=\"refused\"} 1.0");
    }
  }

  /** As of an authority whose clock is ahead. */
  @Test
  @Tag("faults")
  void aCertificateThatIsNotValidYetIsServedOnceItIs() throws Exception {
    TlsFiles files = new TlsFiles(folder.resolve("tls.crt"), folder.resolve("tls.key"));
    Observer observer = new Observer();
    TestCertificate valid = TestCertificate.make(folder, "valid", "EC");
    TestCertificate early = TestCertificate.early(folder, "early");
    Instant begun = Instant.now();
    AtomicReference<Instant> now = new AtomicReference<>(begun);
    write(files, valid);
    try (Certificates certificates = Certificates.open(files, observer, now::get)) {
      SslContextFactory.Server factory = certificates.factory();
      write(files, early);

      certificates.look();
      certificates.look();

      assertThat(factory.getKeyStore().getCertificate("gateway")).isEqualTo(valid.certificate());
      assertThat(observer.scrape())
          .contains("coatcheck_tls_reloads_total{outcome=\"refused\"} 1.0");

      now.set(begun.plus(Duration.ofHours(25)));
      certificates.look();

      assertThat(factory.getKeyStore().getCertificate("gateway")).isEqualTo(early.certificate());
    }
  }

  /** All clients refuse the served one already, so nothing is lost. */
  @Test
  @Tag("faults")
  void aCertificateThatHasEndedReplacesOneThatHasEndedToo() throws IOException {
    TlsFiles files = new TlsFiles(folder.resolve("tls.crt"), folder.resolve("tls.key"));
    Observer observer = new Observer();
    write(files, TestCertificate.ended(folder, "first"));
    try (Certificates certificates = Certificates.open(files, observer)) {
      write(files, TestCertificate.ended(folder, "second"));

      certificates.look();

      assertThat(observer.scrape())
          .contains("coatcheck_tls_reloads_total{outcome=\"replaced\"} 1.0");
    }
  }

  private void write(TlsFiles files, String name) throws IOException {
    write(files, TestCertificate.make(folder, name, "EC"));
  }

  private static void write(TlsFiles files, TestCertificate certificate) throws IOException {
    Files.writeString(files.certificate(), certificate.pem());
    Files.writeString(files.key(), certificate.keyPem());
  }
}
