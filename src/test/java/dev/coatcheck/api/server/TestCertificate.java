package dev.coatcheck.api.server;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A certificate for 127.0.0.1 that signs itself, made by the JDK's keytool.
 *
 * @param name its common name
 */
public record TestCertificate(String name, X509Certificate certificate, PrivateKey key) {
  private static final String PASSWORD = "changeit";

  /**
   * Makes one.
   *
   * @param algorithm RSA or EC
   */
  public static TestCertificate make(Path folder, String name, String algorithm) {
    return make(folder, name, algorithm, List.of("-validity", "2"));
  }

  /** One that ended yesterday. */
  static TestCertificate ended(Path folder, String name) {
    return make(folder, name, "EC", List.of("-startdate", "-3d", "-validity", "2"));
  }

  /** One that is valid from tomorrow on. */
  static TestCertificate early(Path folder, String name) {
    return make(folder, name, "EC", List.of("-startdate", "+1d", "-validity", "2"));
  }

  private static TestCertificate make(
      Path folder, String name, String algorithm, List<String> validity) {
    Path store = folder.resolve(UUID.randomUUID() + ".p12");
    try {
      List<String> command =
          new ArrayList<>(
              List.of(
                  Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                  "-J-XX:TieredStopAtLevel=1",
                  "-J-XX:+UseSerialGC",
                  "-genkeypair"));
      command.addAll(List.of("-alias", "it", "-dname", "CN=" + name, "-keyalg", algorithm));
      command.addAll(
          algorithm.equals("EC")
              ? List.of("-groupname", "secp256r1")
              : List.of("-keysize", "2048"));
      command.addAll(List.of("-ext", "san=ip:127.0.0.1,dns:localhost"));
      command.addAll(validity);
      command.addAll(List.of("-storetype", "PKCS12", "-storepass", PASSWORD));
      command.addAll(List.of("-keystore", store.toString()));
      Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (keytool.waitFor() != 0) {
        throw new AssertionError(said);
      }
      KeyStore made = KeyStore.getInstance("PKCS12");
      try (InputStream in = Files.newInputStream(store)) {
        made.load(in, PASSWORD.toCharArray());
      }
      return new TestCertificate(
          name,
          (X509Certificate) made.getCertificate("it"),
          (PrivateKey) made.getKey("it", PASSWORD.toCharArray()));
    } catch (IOException | GeneralSecurityException failed) {
      throw new AssertionError(failed);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new AssertionError(stopped);
    }
  }

  /** The certificate in PEM. */
  public String pem() {
    try {
      return pem("CERTIFICATE", certificate.getEncoded());
    } catch (GeneralSecurityException failed) {
      throw new AssertionError(failed);
    }
  }

  /** The key in PEM, PKCS#8. */
  public String keyPem() {
    return pem("PRIVATE KEY", key.getEncoded());
  }

  public static String pem(String kind, byte[] content) {
    String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    return "-----BEGIN " + kind + "-----\n" + base64 + "\n-----END " + kind + "-----\n";
  }

  /** Of a client that trusts these certificates and no others. */
  public static SSLContext trusting(TestCertificate... trusted) {
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      for (TestCertificate each : trusted) {
        Certificate certificate = each.certificate();
        store.setCertificateEntry(each.name(), certificate);
      }
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException failed) {
      throw new AssertionError(failed);
    }
  }
}
