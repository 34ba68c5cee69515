package dev.coatcheck.core.older;

import dev.coatcheck.core.key.Key;
import dev.coatcheck.core.key.KeyKind;
import java.util.Optional;

/** UUIDs in 36 lower-case characters. */
public record Uuids() implements Decoder {
  public static final String SCHEME = "uuid";

  private static final TextShape SHAPE =
      new TextShape("", new Alphabet("0123456789abcdef-"), 36, 36);

  @Override
  public Optional<Decoded> decode(String text) {
    return KeyKind.UUID.parse(text).map(key -> new Decoded.OfUuid((Key.Uuid) key));
  }

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public TextShape shape() {
    return SHAPE;
  }
}
