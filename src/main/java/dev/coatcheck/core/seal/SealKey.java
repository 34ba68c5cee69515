package dev.coatcheck.core.seal;

import dev.coatcheck.core.id.Token;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret of an era: 256 random bits. HMAC-SHA256 derives two values from it, and it is used for
 * nothing else: the key of the cipher, and a fingerprint, which names the seal key in the database,
 * in answers and in messages, and tells nothing about it.
 */
public final class SealKey {
  static final int BYTES = 32;

  private static final Pattern HEX = Pattern.compile("[0-9a-f]{64}");
  private static final Pattern FINGERPRINT = Pattern.compile("[0-9a-f]{16}");
  private static final String CIPHER_LABEL = "coatcheck sealed v1 cipher";
  private static final String FINGERPRINT_LABEL = "coatcheck sealed v1 fingerprint";
  private static final int FINGERPRINT_BYTES = 8;

  private final String fingerprint;
  private final SealCipher cipher;

  private SealKey(byte[] secret) {
    byte[] key = derived(secret, CIPHER_LABEL);
    this.cipher = new SealCipher(key);
    this.fingerprint =
        HexFormat.of()
            .formatHex(Arrays.copyOf(derived(secret, FINGERPRINT_LABEL), FINGERPRINT_BYTES));
    Arrays.fill(key, (byte) 0);
  }

  /** The key of 64 lower-case hexadecimal digits; empty for any other text. */
  public static Optional<SealKey> parse(String text) {
    return HEX.matcher(text).matches()
        ? Optional.of(new SealKey(HexFormat.of().parseHex(text)))
        : Optional.empty();
  }

  /** Whether the text can be a {@link #fingerprint}: 16 lower-case hexadecimal digits. */
  public static boolean isFingerprint(String text) {
    return FINGERPRINT.matcher(text).matches();
  }

  private static byte[] derived(byte[] secret, String label) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      return mac.doFinal(label.getBytes(StandardCharsets.US_ASCII));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has HmacSHA256", e);
    }
  }

  public String fingerprint() {
    return fingerprint;
  }

  Token encipher(Token plain) {
    return cipher.encipher(plain);
  }

  Token decipher(Token token) {
    return cipher.decipher(token);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SealKey that && fingerprint.equals(that.fingerprint);
  }

  @Override
  public int hashCode() {
    return fingerprint.hashCode();
  }

  /** Never the secret. */
  @Override
  public String toString() {
    return fingerprint;
  }
}
