package dev.coatcheck.core.id;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 digests. Every Java has the algorithm. */
public final class Sha256 {
  // Looking up the algorithm costs nearly as much as a digest. Cloning an unused digest is cheap.
  private static final MessageDigest UNUSED = unused();
  private static final byte SEPARATOR = 0;

  private Sha256() {}

  public static MessageDigest start() {
    try {
      return (MessageDigest) UNUSED.clone();
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("this Java's SHA-256 can't be cloned", e);
    }
  }

  /** The digest of texts in UTF-8, separated by a zero byte. */
  public static byte[] of(String first, String... others) {
    return of(start(), first, others);
  }

  /** The same, continuing a digest that already has input. */
  static byte[] of(MessageDigest begun, String first, String... others) {
    begun.update(first.getBytes(StandardCharsets.UTF_8));
    for (String other : others) {
      begun.update(SEPARATOR);
      begun.update(other.getBytes(StandardCharsets.UTF_8));
    }
    return begun.digest();
  }

  private static MessageDigest unused() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
