package dev.coatcheck.ids.access;

import dev.coatcheck.core.id.Base62;
import dev.coatcheck.core.id.RandomSource;
import dev.coatcheck.core.id.Sha256;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.zip.CRC32;

/**
 * The text of an API key, as a client sends it.
 *
 * <pre>
 *   ccg_live_2bN8Qx0LmT4a_Zk3…32 base62…9fA0kZ7t
 *            └────┬─────┘ └──────┬───────┘└─┬──┘
 *             key ID, 12      secret, 32    CRC-32 of all before it, 6
 * </pre>
 *
 * Secret scanners recognise the fixed start and the check. The check also lets the gateway refuse
 * junk without a query. Only the key ID may be logged or shown.
 */
public final class ApiKey {
  private static final String START = "ccg_live_";
  private static final String ID_START = "key_";
  private static final int ID_LENGTH = 12;
  private static final int SECRET_LENGTH = 32;
  private static final int CHECK_LENGTH = 6;

  private final String text;
  private final KeyHash hash;

  private ApiKey(String text) {
    this.text = text;
    this.hash = KeyHash.of(Sha256.of(text));
  }

  static ApiKey generate(RandomSource random) {
    return generate(base62(random, ID_LENGTH), random);
  }

  /** With an ID that was chosen before, and a new secret. */
  static ApiKey generate(String id, RandomSource random) {
    String body = START + id + "_" + base62(random, SECRET_LENGTH);
    return new ApiKey(body + check(body));
  }

  /** Empty unless the text has the shape of a key and its check is right. */
  static Optional<ApiKey> parse(String text) {
    if (!hasShape(text)) {
      return Optional.empty();
    }
    int end = text.length() - CHECK_LENGTH;
    return check(text.substring(0, end)).equals(text.substring(end))
        ? Optional.of(new ApiKey(text))
        : Optional.empty();
  }

  private static boolean hasShape(String text) {
    int separator = START.length() + ID_LENGTH;
    if (text.length() != separator + 1 + SECRET_LENGTH + CHECK_LENGTH || !text.startsWith(START)) {
      return false;
    }
    for (int i = START.length(); i < text.length(); i++) {
      char c = text.charAt(i);
      if (i == separator ? c != '_' : !Base62.isBase62(c)) {
        return false;
      }
    }
    return true;
  }

  /** The public part, which names the key in the database, in logs and in audits. */
  public String id() {
    return text.substring(START.length(), START.length() + ID_LENGTH);
  }

  /** The ID of a key as requests, answers and the audit spell it. */
  public static String shown(String keyId) {
    return ID_START + keyId;
  }

  /** The ID that is spelled {@code key_} and 12 letters or digits; empty for any other text. */
  public static Optional<String> idOf(String shown) {
    return Optional.of(shown)
        .filter(text -> text.length() == ID_START.length() + ID_LENGTH)
        .filter(text -> text.startsWith(ID_START))
        .map(text -> text.substring(ID_START.length()))
        .filter(id -> id.chars().allMatch(c -> Base62.isBase62((char) c)));
  }

  /** The whole key. It is shown once, after its creation. */
  public String secretText() {
    return text;
  }

  KeyHash hash() {
    return hash;
  }

  /** Without the secret, so that a key in a log line does no harm. */
  @Override
  public String toString() {
    return START + id() + "_…";
  }

  /** An ID that is the same for the same digest, of at least 24 bytes. */
  static String idFrom(byte[] digest) {
    StringBuilder out = new StringBuilder(ID_LENGTH);
    for (int i = 0; i < ID_LENGTH; i++) {
      int value = (digest[2 * i] & 0xff) << 8 | (digest[2 * i + 1] & 0xff);
      out.append(Base62.ALPHABET.charAt(value % 62));
    }
    return out.toString();
  }

  private static String base62(RandomSource random, int length) {
    StringBuilder out = new StringBuilder(length);
    byte[] bytes = new byte[length];
    while (out.length() < length) {
      random.fill(bytes);
      for (int i = 0; i < bytes.length && out.length() < length; i++) {
        int value = bytes[i] & 63;
        if (value < 62) { // 62 and 63 are drawn again, so that all characters are equally likely
          out.append(Base62.ALPHABET.charAt(value));
        }
      }
    }
    return out.toString();
  }

  private static String check(String body) {
    CRC32 crc = new CRC32();
    crc.update(body.getBytes(StandardCharsets.US_ASCII));
    char[] out = new char[CHECK_LENGTH];
    long rest = crc.getValue();
    for (int i = CHECK_LENGTH - 1; i >= 0; i--) {
      out[i] = Base62.ALPHABET.charAt((int) (rest % 62));
      rest /= 62;
    }
    return new String(out);
  }
}
