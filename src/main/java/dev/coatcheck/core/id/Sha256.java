package dev.coatcheck.core.id;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Digests with SHA-256, which every Java has. */
public final class Sha256 {
  // Looking the algorithm up costs nearly as much as the digest; a clone of an unused one does not.
  private static final MessageDigest UNUSED = unused();
  private static final byte SEPARATOR = 0;

  private Sha256() {}

  /** A digest that has read nothing yet. */
  public static MessageDigest start() {
    try {
      return (MessageDigest) UNUSED.clone();
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("this Java's SHA-256 can't be cloned", e);
    }
  }

  /** The digest of texts in UTF-8, with a zero byte between one and the next. */
  public static byte[] of(String first, String... others) {
    return of(start(), first, others);
  }

  /** The same, after what {@code begun} has read. */
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
