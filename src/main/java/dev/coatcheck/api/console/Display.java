package dev.coatcheck.api.console;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** How values are written for people, and for their shells. */
final class Display {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss 'UTC'", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  private Display() {}

  static String time(Instant time) {
    return TIME.format(time);
  }

  /** A text as one word of a shell, whatever it holds. */
  static String shellWord(String text) {
    return text.matches("[A-Za-z0-9_./:@%+-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
  }

  /** A call of the API, as a command for a shell. */
  static String curl(String method, String path, String json) {
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
