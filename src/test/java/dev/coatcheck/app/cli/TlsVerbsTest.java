package dev.coatcheck.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.api.routes.GatewayFixture;
import dev.coatcheck.api.server.TestCertificate;
import dev.coatcheck.postgres.sql.TestDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Verbs at a gateway with a certificate that no root of the JDK has signed. */
class TlsVerbsTest {
  @TempDir static Path folder;

  private static Path certificate;
  private static Path key;
  private static GatewayFixture gateway;

  @BeforeAll
  static void start() throws IOException {
    TestCertificate made = TestCertificate.make(folder, "gateway", "EC");
    certificate = Files.writeString(folder.resolve("tls.crt"), made.pem());
    key = Files.writeString(folder.resolve("tls.key"), made.keyPem());
    gateway =
        GatewayFixture.own(
            "COATCHECK_TLS_CERTIFICATE_FILE", certificate.toString(),
            "COATCHECK_TLS_KEY_FILE", key.toString());
  }

  @AfterAll
  static void stop() {
    gateway.close();
  }

  @Test
  void aVerbTrustsTheFileThatItIsTold() {
    assertThat(typesList("--ca-file=" + certificate).status()).isZero();
  }

  @Test
  void aVerbTrustsNobodyElse() throws IOException {
    assertThat(typesList().err()).contains("is not trusted", "Name its root with --ca-file.");
    TestCertificate other = TestCertificate.make(folder, "other", "EC");
    Path file = Files.writeString(folder.resolve("other.crt"), other.pem());
    assertThat(typesList("--ca-file=" + file).err()).contains("is not trusted");
  }

  @Test
  void theReasonForNoTrustNamesNoClassOfTheJdk() {
    assertThat(typesList().err())
        .isEqualTo(
            "coatcheck types list: the certificate of %s is not trusted: unable to find valid certification path to requested target. Name its root with --ca-file.\n"
                .formatted(gateway.uri()));
  }

  @Test
  void aFileWithoutCertificatesIsAWrongArgument() {
    assertThat(typesList("--ca-file=" + key))
        .isEqualTo(
            new Terminal(
                2,
                "",
                "coatcheck types list: can't read certificates in PEM from %s: it holds none.\n"
                    .formatted(key)));
    assertThat(typesList("--ca-file=/no/file"))
        .isEqualTo(
            new Terminal(
                2,
                "",
                "coatcheck types list: can't read certificates in PEM from /no/file: there is no"
                    + " such file.\n"));
  }

  @Test
  void theWrongSchemeIsSaidToBeTheReason() {
    int port = gateway.uri().getPort();
    assertThat(typesListAt("http://127.0.0.1:" + port).err())
        .isEqualTo(
            "coatcheck types list: the server at http://127.0.0.1:%d gave no whole HTTP answer. If the gateway has a certificate, its address begins with https://.\n"
                .formatted(port));
    int plain = GatewayFixture.shared().uri().getPort();
    assertThat(typesListAt("https://127.0.0.1:" + plain).err())
        .isEqualTo(
            "coatcheck types list: the server at https://127.0.0.1:%d speaks no TLS. A gateway without a certificate has an address that begins with http://.\n"
                .formatted(plain));
  }

  @Test
  void theHealthOfAGatewayWithTlsIsAskedOverTls() {
    assertThat(
            Terminal.run(
                    "health",
                    "--port=" + gateway.uri().getPort(),
                    "--tls-certificate-file=" + certificate,
                    "--tls-key-file=" + key)
                .status())
        .isZero();
    assertThat(Terminal.run("health", "--port=" + gateway.uri().getPort()).status()).isEqualTo(1);
  }

  private static Terminal typesList(String... more) {
    return typesListAt(gateway.uri().toString(), more);
  }

  private static Terminal typesListAt(String url, String... more) {
    String[] all = new String[4 + more.length];
    all[0] = "types";
    all[1] = "list";
    all[2] = "--url=" + url;
    all[3] = "--key-file=" + TestDatabase.fileWith(gateway.key());
    System.arraycopy(more, 0, all, 4, more.length);
    return Terminal.run(all);
  }
}
