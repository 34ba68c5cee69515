package dev.coatcheck.core.formats;

import dev.coatcheck.core.formats.Reading.Candidate;
import dev.coatcheck.core.formats.Reading.Certainty;
import dev.coatcheck.core.formats.Reading.Flaw;
import dev.coatcheck.core.formats.Reading.Refusal;
import dev.coatcheck.core.id.ParsedId;
import dev.coatcheck.core.id.PublicId;
import java.time.Instant;
import java.util.List;

/** Our own public IDs, which reveal nothing. */
final class PublicIds implements Format {
  private static final int BODY_LENGTH = 24;

  @Override
  public List<Reading> read(String text, Instant now) {
    if (text.length() - text.lastIndexOf('_') - 1 != BODY_LENGTH || text.length() == BODY_LENGTH) {
      return List.of();
    }
    return switch (PublicId.parse(text)) {
      case ParsedId.Valid(PublicId id) ->
          List.of(
              Candidate.of(Inspector.PUBLIC_ID, Certainty.CERTAIN)
                  .with("prefix", id.prefix().value()));
      case ParsedId.Malformed(ParsedId.Reason reason, int position) ->
          List.of(new Refusal(Inspector.PUBLIC_ID, flaw(reason), detail(reason, position)));
    };
  }

  private static Flaw flaw(ParsedId.Reason reason) {
    return switch (reason) {
      case LENGTH -> Flaw.LENGTH;
      case ALPHABET -> Flaw.ALPHABET;
      case OVERFLOW -> Flaw.OVERFLOW;
      case CHECK -> Flaw.CHECK;
      case PREFIX -> Flaw.PREFIX;
    };
  }

  private static String detail(ParsedId.Reason reason, int position) {
    return switch (reason) {
      case LENGTH -> "A public ID has at most 64 characters.";
      case ALPHABET -> "Character " + position + " is none of 0-9, A-Z and a-z.";
      case OVERFLOW -> "The 22 characters after the prefix are more than 128 bits.";
      case CHECK -> "The last two characters don't fit the others: it is mistyped, or not ours.";
      case PREFIX -> "Character " + position + " belongs to no prefix.";
    };
  }
}
