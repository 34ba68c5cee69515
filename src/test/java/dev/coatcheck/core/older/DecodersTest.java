package dev.coatcheck.core.older;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Texts of strangers: whatever they send is decoded or refused, and what is decoded is exact. */
class DecodersTest {
  private static final List<Decoder> ALL =
      List.of(
          new Hashids("", Hashids.DEFAULT_ALPHABET, 0),
          new Hashids("salt", new Alphabet("cfhistuCFHISTUab"), 9),
          new Hashids("salt", new Alphabet("cfhistuCFHISTUabd"), 255),
          new Hashids("salt", new Alphabet("abdegjklmnopqrvw"), 3),
          new Sqids(Sqids.DEFAULT_ALPHABET, 0),
          new Sqids(new Alphabet("abc"), 100),
          new Sqids(new Alphabet("as!"), 255),
          new TypeIds("user"),
          new TypeIds(""),
          new Uuids());

  @Test
  void anyTextIsDecodedOrRefused() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (Decoder decoder : ALL) {
      String characters = decoder.shape().prefix() + decoder.shape().alphabet().characters();
      int decoded = 0;
      for (int i = 0; i < 20_000; i++) {
        String text = text(random, decoder, characters);
        try {
          decoded += decoder.decode(text).isPresent() ? 1 : 0;
        } catch (RuntimeException thrown) {
          throw new AssertionError("seed " + seed + ", " + decoder + ": " + text, thrown);
        }
      }
      assertThat(decoded).isLessThan(20_000);
    }
  }

  /** Texts of the right prefix, length and alphabet, most of them with some flaw. */
  private static String text(Random random, Decoder decoder, String characters) {
    StringBuilder text = new StringBuilder(random.nextInt(20) == 0 ? "" : decoder.shape().prefix());
    int length =
        random.nextInt(4) == 0
            ? random.nextInt(300)
            : random.nextInt(decoder.shape().lengthMin(), decoder.shape().lengthMax() + 1);
    while (text.length() < decoder.shape().prefix().length() + length) {
      text.append(
          random.nextInt(100) == 0
              ? (char) random.nextInt(Character.MAX_VALUE + 1)
              : characters.charAt(random.nextInt(characters.length())));
    }
    return text.toString();
  }

  @Test
  void aLongTextIsRefusedUnread() {
    assertThat(ALL).noneMatch(decoder -> decoder.decode("a".repeat(1_000_000)).isPresent());
  }

  @Test
  void rulesAreEqualByWhatTheyWereMadeOf() {
    Hashids hashids = new Hashids("a", Hashids.DEFAULT_ALPHABET, 1);
    Sqids sqids = new Sqids(Sqids.DEFAULT_ALPHABET, 1);

    assertThat(new Hashids("a", copy(Hashids.DEFAULT_ALPHABET), 1))
        .isEqualTo(hashids)
        .hasSameHashCodeAs(hashids);
    assertThat(new Sqids(copy(Sqids.DEFAULT_ALPHABET), 1))
        .isEqualTo(sqids)
        .hasSameHashCodeAs(sqids);
    assertThat(
            List.of(
                hashids,
                new Hashids("b", Hashids.DEFAULT_ALPHABET, 1),
                new Hashids("a", new Alphabet("abcdefghijklmnopqr"), 1),
                new Hashids("a", Hashids.DEFAULT_ALPHABET, 2),
                sqids,
                new Sqids(new Alphabet("abc"), 1),
                new Sqids(Sqids.DEFAULT_ALPHABET, 2)))
        .doesNotHaveDuplicates();
  }

  private static Alphabet copy(Alphabet alphabet) {
    return new Alphabet(alphabet.characters());
  }

  @Test
  void aNumberOf64BitsIsRefused() {
    for (int base = Character.MIN_RADIX; base <= Character.MAX_RADIX; base++) {
      Digits digits =
          new Digits("0123456789abcdefghijklmnopqrstuvwxyz".substring(0, base).toCharArray());
      String greatest = Long.toString(Long.MAX_VALUE, base);
      String greater = BigInteger.TWO.pow(63).toString(base);

      assertThat(digits.read(greatest, 0, greatest.length())).hasValue(Long.MAX_VALUE);
      assertThat(digits.write(Long.MAX_VALUE)).isEqualTo(greatest);
      assertThat(greatest).hasSize(Digits.lengthMax(base));
      assertThat(digits.read(greater, 0, greater.length())).isEmpty();
      assertThat(digits.read(greatest + "0", 0, greatest.length() + 1)).isEmpty();
    }
  }

  /** In each way of dividing a small alphabet into digits, separators and guards. */
  @Test
  void smallAlphabetsTakeAllNumbersToo() {
    Random random = new Random(4711);
    for (Decoder decoder : ALL) {
      if (decoder instanceof Hashids hashids) {
        for (int i = 0; i < 1_000; i++) {
          long number = random.nextLong(Long.MAX_VALUE) >>> random.nextInt(63);
          assertThat(hashids.decode(hashids.encode(number))).contains(new Decoded.OfNumber(number));
        }
      }
    }
  }
}
