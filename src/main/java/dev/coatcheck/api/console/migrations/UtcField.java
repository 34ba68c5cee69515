package dev.coatcheck.api.console.migrations;

import dev.coatcheck.api.console.page.Form;
import dev.coatcheck.api.exchange.ProblemCode;
import dev.coatcheck.api.exchange.Refusal;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.regex.Pattern;

/** A time of a form in UTC: browsers send what was chosen, without an offset. */
final class UtcField {
  private static final Pattern LOCAL =
      Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2})?");

  private UtcField() {}

  /** Empty if the field is. */
  static Optional<Instant> time(Form form, String field) {
    return form.text(field).map(text -> time(field, text));
  }

  private static Instant time(String field, String text) {
    if (LOCAL.matcher(text).matches()) {
      try {
        return LocalDateTime.parse(text).toInstant(ZoneOffset.UTC);
      } catch (DateTimeException noSuchTime) {
        // refused below
      }
    }
    throw new Refusal(
        ProblemCode.FIELD_INVALID, field, "Write a time in UTC like 2026-11-29T02:00.");
  }
}
