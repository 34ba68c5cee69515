package dev.coatcheck.api.server;

import dev.coatcheck.core.file.FileWords;
import dev.coatcheck.core.file.InputFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The two PEM files of a TLS certificate.
 *
 * @param certificate the certificate of the gateway, then those that lead to the root, in order
 * @param key its private key, PKCS#8, RSA or EC, not encrypted
 */
public record TlsFiles(Path certificate, Path key) {
  private static final int BYTES_MAX = 256 * 1024;
  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]{1,40})-----([A-Za-z0-9+/=\\s]*)-----END \\1-----");

  /** What the files hold: a certificate with its key, or all their faults. */
  public sealed interface Read {
    /** A chain whose first certificate belongs to the key. */
    record Sound(List<X509Certificate> chain, PrivateKey key) implements Read {
      @Override
      public String toString() {
        return "Sound[" + chain.getFirst().getSubjectX500Principal() + "]";
      }
    }

    /**
     * Each fault follows the name of a setting. It names a file and never repeats text of it.
     *
     * @param ofCertificate and {@code ofKey}: why that file can't be used
     */
    record Faulty(List<String> ofCertificate, List<String> ofKey) implements Read {}
  }

  /** The texts of both files, or why one can't be read; equal while neither has changed. */
  record Texts(Text certificate, Text key) {}

  sealed interface Text {
    record Content(String pem) implements Text {
      @Override
      public String toString() {
        return "Content[…]";
      }
    }

    record Unreadable(String why) implements Text {}
  }

  /** A fault of a file, which ends its reading. */
  private static final class Fault extends Exception {
    Fault(String what) {
      super(what);
    }
  }

  private interface Parser<T> {
    T parse(Text text) throws Fault;
  }

  public Read read() {
    return parse(texts());
  }

  Texts texts() {
    return new Texts(text(certificate), text(key));
  }

  Read parse(Texts texts) {
    List<String> ofCertificate = new ArrayList<>();
    List<String> ofKey = new ArrayList<>();
    Optional<List<X509Certificate>> chain = parsed(this::chain, texts.certificate(), ofCertificate);
    Optional<PrivateKey> secret = parsed(this::privateKey, texts.key(), ofKey);
    if (chain.isPresent()
        && secret.isPresent()
        && !belongTogether(chain.get().getFirst().getPublicKey(), secret.get())) {
      ofKey.add(
          "names a key that does not belong to the first certificate in %s: %s"
              .formatted(certificate, key));
    }
    return ofCertificate.isEmpty() && ofKey.isEmpty()
        ? new Read.Sound(chain.orElseThrow(), secret.orElseThrow())
        : new Read.Faulty(ofCertificate, ofKey);
  }

  private static <T> Optional<T> parsed(Parser<T> parser, Text text, List<String> faults) {
    try {
      return Optional.of(parser.parse(text));
    } catch (Fault fault) {
      faults.add(String.valueOf(fault.getMessage()));
      return Optional.empty();
    }
  }

  private static Text text(Path file) {
    try {
      if (Files.readAttributes(file, BasicFileAttributes.class).isOther()) {
        throw new IOException("it is a pipe or a device, which can't be read again.");
      }
      return new Text.Content(
          new String(InputFile.read(file, BYTES_MAX), StandardCharsets.ISO_8859_1));
    } catch (IOException unreadable) {
      return new Text.Unreadable(
          "names %s, which can't be read: %s".formatted(file, FileWords.why(unreadable)));
    }
  }

  private List<X509Certificate> chain(Text text) throws Fault {
    List<X509Certificate> chain = new ArrayList<>();
    Matcher blocks = BLOCK.matcher(content(text));
    while (blocks.find()) {
      if (blocks.group(1).equals("CERTIFICATE")) {
        chain.add(certificate(blocks.group(2)));
      }
    }
    if (chain.isEmpty()) {
      throw new Fault("names a file without a certificate in PEM: " + certificate);
    }
    for (int i = 1; i < chain.size(); i++) {
      if (!isIssuedBy(chain.get(i - 1), chain.get(i))) {
        throw new Fault(
            "names a file in which certificate %d did not issue the one before it: %s"
                .formatted(i + 1, certificate));
      }
    }
    return chain;
  }

  private static boolean isIssuedBy(X509Certificate issued, X509Certificate issuer) {
    return issued.getIssuerX500Principal().equals(issuer.getSubjectX500Principal());
  }

  private X509Certificate certificate(String base64) throws Fault {
    try {
      return (X509Certificate)
          CertificateFactory.getInstance("X.509")
              .generateCertificate(new ByteArrayInputStream(decoded(base64, certificate)));
    } catch (CertificateException broken) {
      throw new Fault("names a file with a certificate that can't be read: " + certificate);
    }
  }

  private PrivateKey privateKey(Text text) throws Fault {
    Matcher blocks = BLOCK.matcher(content(text));
    while (blocks.find()) {
      switch (blocks.group(1)) {
        case "PRIVATE KEY" -> {
          return privateKey(new PKCS8EncodedKeySpec(decoded(blocks.group(2), key)));
        }
        case "ENCRYPTED PRIVATE KEY" ->
            throw new Fault("names an encrypted key; decrypt it with openssl pkey: " + key);
        case "RSA PRIVATE KEY", "EC PRIVATE KEY" ->
            throw new Fault(
                "names a key that is not PKCS#8; convert it with openssl pkcs8 -topk8 -nocrypt: "
                    + key);
        default -> {}
      }
    }
    throw new Fault("names a file without a private key in PEM: " + key);
  }

  private PrivateKey privateKey(PKCS8EncodedKeySpec spec) throws Fault {
    for (String algorithm : List.of("RSA", "EC")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(spec);
      } catch (InvalidKeySpecException other) {
        // Tried with the next algorithm.
      } catch (GeneralSecurityException missing) {
        throw new IllegalStateException("this Java has no " + algorithm, missing);
      }
    }
    throw new Fault("names a key that is neither RSA nor EC, or can't be read: " + key);
  }

  private static String content(Text text) throws Fault {
    return switch (text) {
      case Text.Content(String pem) -> pem;
      case Text.Unreadable(String why) -> throw new Fault(why);
    };
  }

  private static byte[] decoded(String base64, Path file) throws Fault {
    try {
      return Base64.getMimeDecoder().decode(base64);
    } catch (IllegalArgumentException broken) {
      throw new Fault("names a file that is no PEM: " + file);
    }
  }

  /** Whether one verifies what the other signs. */
  private static boolean belongTogether(PublicKey open, PrivateKey secret) {
    if (!open.getAlgorithm().equals(secret.getAlgorithm())) {
      return false;
    }
    try {
      byte[] text = {1};
      Signature signature =
          Signature.getInstance(
              secret.getAlgorithm().equals("RSA") ? "SHA256withRSA" : "SHA256withECDSA");
      signature.initSign(secret);
      signature.update(text);
      byte[] signed = signature.sign();
      signature.initVerify(open);
      signature.update(text);
      return signature.verify(signed);
    } catch (GeneralSecurityException differ) {
      return false;
    }
  }
}
