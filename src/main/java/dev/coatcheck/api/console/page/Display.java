package dev.coatcheck.api.console.page;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** How values are written for people, and for their shells. */
public final class Display {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss 'UTC'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  private Display() {}

  public static String time(Instant time) {
    return TIME.format(time);
  }

  /** A number with a comma for each three digits. */
  public static String number(long number) {
    return String.format(Locale.ENGLISH, "%,d", number);
  }

  /** A number with its noun, such as {@code 1 row} or {@code 2,000 rows}. */
  public static String count(long number, String one, String many) {
    return number(number) + " " + (number == 1 ? one : many);
  }

  /** Such as {@code 2 h 5 min}, {@code 3 min 10 s} or {@code 12 s}. */
  public static String duration(Duration duration) {
    if (duration.toDays() > 0) {
      return duration.toDays() + " d " + duration.toHoursPart() + " h";
    }
    if (duration.toHours() > 0) {
      return duration.toHours() + " h " + duration.toMinutesPart() + " min";
    }
    return duration.toMinutes() > 0
        ? duration.toMinutes() + " min " + duration.toSecondsPart() + " s"
        : duration.toSeconds() + " s";
  }

  /** A text as one word of a shell, whatever it holds. */
  public static String shellWord(String text) {
    return text.matches("[A-Za-z0-9_./:@%+-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
  }

  /** A call of the API, as a command for a shell. */
  public static String curl(String method, String path, String json) {
    String word = "$COATCHECK_URL" + path;
    return "curl"
        + (method.equals("GET") ? "" : " -X " + method)
        + " -H \"Authorization: Bearer $COATCHECK_API_KEY\""
        + (json.isEmpty() ? "" : " --json " + shellWord(json))
        + " \""
        + word
        + "\"";
  }
}
