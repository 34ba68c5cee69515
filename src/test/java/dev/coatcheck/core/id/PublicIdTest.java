package dev.coatcheck.core.id;

import static org.assertj.core.api.Assertions.assertThat;

import dev.coatcheck.core.id.ParsedId.Malformed;
import dev.coatcheck.core.id.ParsedId.Reason;
import dev.coatcheck.core.id.ParsedId.Valid;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

final class PublicIdTest {
  @Test
  void everyTokenSurvivesTheRoundTrip() {
    SeededRandom.check(
        200_000,
        random -> {
          PublicId id = random.publicId();
          assertThat(PublicId.parse(id.toString())).isEqualTo(new Valid(id));
        });
  }

  @Test
  void textOrderIsNumericOrder() {
    SeededRandom.check(
        100_000,
        random -> {
          Token one = random.token();
          Token other = random.token();
          String oneText = Base62.encode(one.high(), one.low());
          String otherText = Base62.encode(other.high(), other.low());
          assertThat(Integer.signum(oneText.compareTo(otherText)))
              .isEqualTo(Integer.signum(one.compareTo(other)));
        });
  }

  @Test
  void acceptedTextsAreTheOnlySpellingOfTheirToken() {
    SeededRandom.check(
        300_000,
        random -> {
          StringBuilder text = new StringBuilder(random.publicId().toString());
          for (int edits = random.below(4); edits > 0; edits--) {
            edit(text, random);
          }
          assertAcceptedOnlyAsWritten(text.toString());
        });
  }

  @Test
  void randomBodiesWithFittingCheckAreTheOnlySpellingOfTheirToken() {
    SeededRandom.check(
        100_000,
        random -> {
          StringBuilder text = new StringBuilder("ch_");
          for (int i = 0; i < 24; i++) {
            text.append(random.base62());
          }
          EncodedPayload body =
              EncodedPayload.read(text.toString().getBytes(StandardCharsets.US_ASCII), 3);
          int check = CheckCharacters.valueOf(CheckCharacters.sumOf(new Prefix("ch")), body);
          text.setLength(25);
          assertAcceptedOnlyAsWritten(
              text.append((char) (Base62.pair(check) >>> 8))
                  .append((char) (Base62.pair(check) & 0xff))
                  .toString());
        });
  }

  @Test
  void onlyTheCharactersOfTheAlphabetAreBase62() {
    for (int c = 0; c <= Character.MAX_VALUE; c++) {
      assertThat(Base62.isBase62((char) c)).isEqualTo(Base62.ALPHABET.indexOf(c) >= 0);
    }
  }

  @Test
  void charactersOutsideTheAlphabetAreRefusedWhereTheyStand() {
    String good = "ch_4KIWSf8WvPNoQDBwStVIDYHU";
    for (int at = 3; at < good.length(); at++) {
      for (int c = 0; c <= Character.MAX_VALUE; c++) {
        if (c == '_' || Base62.isBase62((char) c)) {
          continue;
        }
        String bad = good.substring(0, at) + (char) c + good.substring(at + 1);
        assertThat(PublicId.parse(bad)).isEqualTo(new Malformed(Reason.ALPHABET, at));
      }
    }
  }

  @Test
  void textsBeyondSixtyFourCharactersAreRefusedForTheirLength() {
    assertThat(PublicId.parse("\ud83d\ude00".repeat(33)))
        .isEqualTo(new Malformed(Reason.LENGTH, 66));
    assertThat(PublicId.parse("_".repeat(1_000_000)))
        .isEqualTo(new Malformed(Reason.LENGTH, 1_000_000));
  }

  @Test
  void aPrefixSeenBeforeIsNotTakenForAnother() {
    List<String> prefixes =
        List.of("ch", "c", "line_item_a", "line_item_b", "line_ite", "line_item", "line_item_c_d");
    for (int round = 0; round < 3; round++) {
      for (String prefix : prefixes) {
        PublicId id = new PublicId(new Prefix(prefix), new Token(1, 2));
        String text = id.toString();
        assertThat(PublicId.parse(text)).isEqualTo(new Valid(id));
        assertThat(PublicId.parse("\0" + text)).isEqualTo(new Malformed(Reason.PREFIX, 0));
        String tail = text.substring(prefix.length());
        assertThat(PublicId.parse(prefix.substring(0, prefix.length() - 1) + "?" + tail))
            .isEqualTo(new Malformed(Reason.PREFIX, prefix.length() - 1));
        assertThat(PublicId.parse(prefix + "\ud83d\ude00" + tail))
            .isEqualTo(new Malformed(Reason.PREFIX, prefix.length()));
      }
    }
  }

  @Test
  void loneSurrogatesAndPairsAreRefusedWhereTheyStand() {
    assertThat(PublicId.parse("a\ud83d\ude00_4KIWSf8WvPNoQDBwStVIDYHU"))
        .isEqualTo(new Malformed(Reason.PREFIX, 1));
    assertThat(PublicId.parse("\udc00ch_4KIWSf8WvPNoQDBwStVIDYHU"))
        .isEqualTo(new Malformed(Reason.PREFIX, 0));
    assertThat(PublicId.parse("ch_4KIWSf8WvPNoQDBwStVIDYHU\ud800"))
        .isEqualTo(new Malformed(Reason.ALPHABET, 27));
  }

  private static void edit(StringBuilder text, SeededRandom random) {
    int at = random.below(text.length());
    switch (random.below(4)) {
      case 0 -> text.setCharAt(at, random.anyCharacter());
      case 1 -> text.insert(at, random.anyCharacter());
      case 2 -> text.deleteCharAt(at);
      default -> {
        char c = text.charAt(at);
        text.setCharAt(
            at, Character.isUpperCase(c) ? Character.toLowerCase(c) : Character.toUpperCase(c));
      }
    }
  }

  private static void assertAcceptedOnlyAsWritten(String text) {
    switch (PublicId.parse(text)) {
      case Valid(PublicId id) -> assertThat(id).hasToString(text);
      case Malformed(Reason reason, int position) ->
          assertThat(position).as("%s in %s", reason, text).isBetween(0, text.length());
    }
  }

  @Test
  void tokensKeepTheirBitsAsUuidAndAsBytes() {
    SeededRandom.check(
        10_000,
        random -> {
          Token token = random.token();
          assertThat(Token.of(token.toUuid())).isEqualTo(token);
          assertThat(unsigned(token)).isEqualTo(new BigInteger(token.toString(), 16));
        });
  }

  @Test
  void tokensAreOrderedAsUnsignedNumbers() {
    SeededRandom.check(
        10_000,
        random -> {
          Token one = random.token();
          Token other = random.below(4) == 0 ? one : random.token();
          assertThat(Integer.signum(one.compareTo(other)))
              .isEqualTo(unsigned(one).compareTo(unsigned(other)));
        });
  }

  @Test
  void theBucketIsTheLowestTenBits() {
    assertThat(new Token(-1, -1).bucket()).isEqualTo(1023);
    assertThat(new Token(-1, -1024).bucket()).isZero();
    assertThat(new Token(0, 0x1_0000_0000_0007L).bucket()).isEqualTo(7);
  }

  private static BigInteger unsigned(Token token) {
    return new BigInteger(1, token.toBytes());
  }
}
