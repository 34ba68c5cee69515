package dev.coatcheck.bulk.rows;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.format.ResolverStyle;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;

/** Times in files: in the form of the API, and in the form of Postgres's own CSV. */
public final class Timestamps {
  private static final int LENGTH_MAX = 40;

  /** Milliseconds and microseconds of any such time fit into a long. */
  private static final int YEAR_MAX = 9_999;

  private static final DateTimeFormatter READ =
      new DateTimeFormatterBuilder()
          .append(DateTimeFormatter.ISO_LOCAL_DATE)
          .appendPattern("['T'][' ']")
          .append(DateTimeFormatter.ISO_LOCAL_TIME)
          .appendPattern("[XXX][X]")
          .toFormatter(Locale.ROOT)
          .withResolverStyle(ResolverStyle.STRICT); // or 31 February would be a day

  private static final DateTimeFormatter WRITE =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS'Z'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  private Timestamps() {}

  /**
   * Parses a time with an offset; empty if the text is not such a time, or its year has more than
   * four digits.
   */
  public static Optional<Instant> parse(String text) {
    if (text.length() > LENGTH_MAX) {
      return Optional.empty();
    }
    try {
      return Optional.of(OffsetDateTime.parse(text, READ))
          .filter(time -> Math.abs(time.getYear()) <= YEAR_MAX)
          .map(OffsetDateTime::toInstant);
    } catch (DateTimeParseException malformed) {
      return Optional.empty();
    }
  }

  /** Microseconds since 1970, the resolution of Postgres. Nanoseconds are cut off. */
  public static long micros(Instant instant) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
  }

  public static String text(long micros) {
    return WRITE.format(Instant.EPOCH.plus(micros, ChronoUnit.MICROS));
  }
}
