package dev.coatcheck.core.formats;

import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.formats.Reading.Certainty;
import dev.coatcheck.core.formats.Reading.Flaw;
import dev.coatcheck.core.formats.Reading.Refusal;
import dev.coatcheck.core.older.TypeIds;
import java.math.BigInteger;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/**
 * TypeIDs: a prefix, an underscore, and a UUID in 26 digits of Crockford's base 32 in lower case.
 *
 * <p>Source: the specification of TypeIDs, 0.3.0 (github.com/jetify-com/typeid).
 */
final class TypeId implements Format {
  private static final String NAME = "typeid";
  private static final int SUFFIX_LENGTH = 26;
  private static final int WIDTH = 128;

  @Override
  public List<Reading> read(String text, Instant now) {
    int split = text.lastIndexOf('_');
    String suffix = text.substring(split + 1);
    if (suffix.length() != SUFFIX_LENGTH) {
      return List.of();
    }
    String prefix = text.substring(0, Math.max(split, 0));
    if (split < 0) {
      return Digits.CROCKFORD_LOWER.strangerAt(suffix) < 0 && !isOverflow(suffix)
          ? List.of(read("", suffix, now))
          : List.of();
    }
    return List.of(ofPrefix(prefix, suffix, now));
  }

  private static Reading ofPrefix(String prefix, String suffix, Instant now) {
    if (prefix.isEmpty() || !TypeIds.isTypeName(prefix)) {
      return new Refusal(
          NAME,
          Flaw.PREFIX,
          "A prefix has 1 to 63 lower-case letters and underscores between them.");
    }
    if (Digits.CROCKFORD_LOWER.strangerAt(suffix) >= 0) {
      return new Refusal(
          NAME,
          Flaw.ALPHABET,
          "The suffix is lower case and has none of the letters i, l, o and u.");
    }
    if (isOverflow(suffix)) {
      return new Refusal(NAME, Flaw.OVERFLOW, "128 bits begin with a digit from 0 to 7.");
    }
    return read(prefix, suffix, now);
  }

  private static boolean isOverflow(String suffix) {
    return Digits.CROCKFORD_LOWER.value(suffix).bitLength() > WIDTH;
  }

  private static Candidate read(String prefix, String suffix, Instant now) {
    BigInteger value = Digits.CROCKFORD_LOWER.value(suffix);
    UUID uuid = new UUID(value.shiftRight(64).longValue(), value.longValue());
    Candidate inner =
        Uuid.read(value, now) instanceof Candidate found
            ? found
            : Candidate.of(NAME, Certainty.POSSIBLE);
    return inner
        .that(certainty(inner, prefix))
        .inside(NAME, "uuid_version", inner.format())
        .inside(NAME, "uuid", uuid.toString())
        .inside(NAME, "prefix", prefix);
  }

  /** TypeIDs usually hold a UUID of version 7. */
  private static Certainty certainty(Candidate uuid, String prefix) {
    if (!uuid.format().equals("uuid.v7")) {
      return Certainty.POSSIBLE;
    }
    return prefix.isEmpty() ? Certainty.LIKELY : uuid.certainty();
  }
}
