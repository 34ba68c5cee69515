package dev.coatcheck.core.id;

import dev.coatcheck.core.id.ParsedId.Malformed;
import dev.coatcheck.core.id.ParsedId.Reason;
import dev.coatcheck.core.id.ParsedId.Valid;
import java.nio.charset.StandardCharsets;

/**
 * The public ID of a row: {@code prefix_payload} and two check characters.
 *
 * <pre>
 * ch_4KIWSf8WvPNoQDBwStVIDYHU
 * └┬┘└─────── payload ──────┘
 * prefix      22 characters + 2 check characters
 * </pre>
 *
 * A token has exactly one text. Parsing folds, trims and normalises nothing.
 */
public record PublicId(Prefix prefix, Token token) {
  /** Longer texts are refused unread. The contract promises that no public ID is longer. */
  private static final int TEXT_LENGTH_MAX = 64;

  /** Accepts exactly the texts that {@link #toString} returns. */
  public static ParsedId parse(String text) {
    int length = text.length();
    if (length == 0 || length > TEXT_LENGTH_MAX) {
      return new Malformed(Reason.LENGTH, length);
    }
    // A character outside ISO 8859-1 becomes a question mark, which no part of an ID allows.
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    int bodyAt = bytes.length - EncodedPayload.LENGTH;
    if (bodyAt < 2 || bytes[bodyAt - 1] != '_') {
      return refuse(text);
    }
    KnownPrefix prefix = KnownPrefix.startOf(text, bytes, bodyAt - 1);
    EncodedPayload body = EncodedPayload.read(bytes, bodyAt);
    if (prefix == null || !body.isBase62()) {
      return refuse(text);
    }
    if (body.overflows()) {
      return new Malformed(Reason.OVERFLOW, bodyAt + body.overflowIndex());
    }
    if (body.check() != CheckCharacters.valueOf(prefix.checkSum(), body)) {
      return new Malformed(Reason.CHECK, bodyAt + EncodedPayload.PAYLOAD_LENGTH);
    }
    return new Valid(new PublicId(prefix.prefix(), Base62.token(body)));
  }

  /** The first reason, from left to right, why a text is not a public ID. */
  private static Malformed refuse(String text) {
    int split = text.lastIndexOf('_');
    int offence = split < 0 ? 0 : Prefix.offenceAt(text, split);
    if (offence >= 0) {
      return new Malformed(Reason.PREFIX, offence);
    }
    for (int i = split + 1; i < text.length(); i++) {
      if (!Base62.isBase62(text.charAt(i))) {
        return new Malformed(Reason.ALPHABET, i);
      }
    }
    return new Malformed(Reason.LENGTH, text.length());
  }

  @Override
  public String toString() {
    String name = prefix.value();
    int bodyAt = name.length() + 1;
    byte[] text = new byte[bodyAt + EncodedPayload.LENGTH];
    for (int i = 0; i < name.length(); i++) {
      text[i] = (byte) name.charAt(i);
    }
    text[bodyAt - 1] = '_';
    EncodedPayload payload = Base62.spell(token.high(), token.low());
    int check = CheckCharacters.valueOf(CheckCharacters.sumOf(prefix), payload);
    payload.withCheck(check).write(text, bodyAt);
    return new String(text, StandardCharsets.ISO_8859_1);
  }
}
