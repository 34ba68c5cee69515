package dev.coatcheck.api.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TlsFilesTest {
  @TempDir static Path folder;

  private static TestCertificate rsa;
  private static TestCertificate ec;

  private final Path certificate = folder.resolve("tls.crt");
  private final Path key = folder.resolve("tls.key");

  @BeforeAll
  static void make() {
    rsa = TestCertificate.make(folder, "rsa", "RSA");
    ec = TestCertificate.make(folder, "ec", "EC");
  }

  @Test
  void aCertificateWithItsKeyIsRead() throws IOException {
    for (TestCertificate each : List.of(rsa, ec)) {
      assertThat(read(each.pem(), each.keyPem()))
          .isEqualTo(new TlsFiles.Read.Sound(List.of(each.certificate()), each.key()));
    }
  }

  @Test
  void textAroundTheBlocksIsIgnoredAsIsTheEndOfLines() throws IOException {
    assertThat(
            read(
                "subject=CN=ec\r\n" + ec.pem().replace("\n", "\r\n"),
                "Bag Attributes\n" + ec.keyPem()))
        .isInstanceOf(TlsFiles.Read.Sound.class);
  }

  @Test
  void faultsOfBothFilesAreToldAtOnce() throws IOException {
    Files.deleteIfExists(certificate);
    Files.writeString(key, "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n");

    assertThat(new TlsFiles(certificate, key).read())
        .isEqualTo(
            new TlsFiles.Read.Faulty(
                List.of(cantBeRead(certificate, "there is no such file.")),
                List.of("names a key that is neither RSA nor EC, or can't be read: " + key)));
  }

  @Test
  void aFaultyCertificateIsNamed() throws IOException {
    assertThat(faults(read("", ec.keyPem()))).contains("without a certificate in PEM");
    assertThat(faults(read(ec.keyPem(), ec.keyPem()))).contains("without a certificate in PEM");
    assertThat(faults(read(ec.pem().substring(0, 200), ec.keyPem())))
        .contains("without a certificate in PEM");
    assertThat(faults(read(TestCertificate.pem("CERTIFICATE", new byte[] {1}), ec.keyPem())))
        .contains("a certificate that can't be read");
    assertThat(faults(read(ec.pem() + rsa.pem(), ec.keyPem())))
        .contains("certificate 2 did not issue the one before it");
    assertThat(faults(read("x".repeat(300_000), ec.keyPem()))).contains("more than 262144 bytes");
    assertThat(faults(new TlsFiles(folder, key).read()))
        .contains(cantBeRead(folder, "Is a directory"));
  }

  @Test
  void aFaultyKeyIsNamedAndNotPrinted() throws IOException {
    assertThat(faults(read(ec.pem(), ""))).contains("without a private key in PEM");
    assertThat(faults(read(ec.pem(), rsa.keyPem())))
        .contains("does not belong to the first certificate");
    TestCertificate other = TestCertificate.make(folder, "other", "EC");
    assertThat(faults(read(ec.pem(), other.keyPem())))
        .contains("does not belong to the first certificate");
    for (String kind : List.of("RSA PRIVATE KEY", "EC PRIVATE KEY")) {
      assertThat(faults(read(ec.pem(), ec.keyPem().replace("PRIVATE KEY", kind))))
          .contains("is not PKCS#8");
    }
    String encrypted = ec.keyPem().replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    assertThat(faults(read(ec.pem(), encrypted))).contains("an encrypted key");
    assertThat(new TlsFiles(certificate, key).texts().toString())
        .doesNotContain(encrypted.lines().toList().get(1));
  }

  /** It would be waited for: at the start for good, and later no renewal would be noticed. */
  @Test
  void aNamedPipeIsNoFileOfACertificateOrAKey() throws Exception {
    Path pipe = folder.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();

    String why = "it is a pipe or a device, which can't be read again.";
    assertThat(
            CompletableFuture.supplyAsync(
                () -> new TlsFiles(pipe, pipe).read(), Thread.ofPlatform().daemon()::start))
        .succeedsWithin(Duration.ofSeconds(10))
        .isEqualTo(
            new TlsFiles.Read.Faulty(
                List.of(cantBeRead(pipe, why)), List.of(cantBeRead(pipe, why))));
  }

  private static String cantBeRead(Path file, String why) {
    return "names %s, which can't be read: %s".formatted(file, why);
  }

  private TlsFiles.Read read(String certificatePem, String keyPem) throws IOException {
    Files.writeString(certificate, certificatePem);
    Files.writeString(key, keyPem);
    return new TlsFiles(certificate, key).read();
  }

  private static String faults(TlsFiles.Read read) {
    return switch (read) {
      case TlsFiles.Read.Sound sound -> throw new AssertionError(sound);
      case TlsFiles.Read.Faulty(List<String> ofCertificate, List<String> ofKey) ->
          String.join("\n", ofCertificate) + String.join("\n", ofKey);
    };
  }
}
