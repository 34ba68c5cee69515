package dev.coatcheck.ids.pattern;

import dev.coatcheck.core.older.Decoded;
import dev.coatcheck.core.older.Decoder;
import java.util.Optional;

/**
 * Public IDs of an older system that a rule decodes, so that they need no rows.
 *
 * @param textPrefix a fixed text in front of what the decoder reads; may be empty
 * @param decoder of at most 255 characters with the text prefix
 */
public record PublicRule(String textPrefix, Decoder decoder) implements OlderSystem {
  public PublicRule {
    if (textPrefix.length() + decoder.prefix().length() + decoder.lengthMax() > LENGTH_MAX) {
      throw new IllegalArgumentException("too long with the text prefix " + textPrefix);
    }
  }

  /**
   * What a text stands for; empty unless the rule makes exactly this text of it. Numbers begin at
   * 1, as legacy IDs do.
   */
  public Optional<Decoded> decode(String text) {
    return text.startsWith(textPrefix)
        ? decoder.decode(text.substring(textPrefix.length())).filter(PublicRule::isGiven)
        : Optional.empty();
  }

  private static boolean isGiven(Decoded decoded) {
    return !(decoded instanceof Decoded.OfNumber(long number) && number == 0);
  }

  /** Whether its texts begin with a fixed text, so that they are known wherever they stand. */
  public boolean isMarked() {
    return !shape().prefix().isEmpty();
  }

  @Override
  public TextShape shape() {
    return new TextShape(
        textPrefix + decoder.prefix(),
        decoder.alphabet(),
        decoder.lengthMin(),
        decoder.lengthMax());
  }
}
