package dev.coatcheck.api.routes;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Fills rows of test tables. Each placeholder is replaced once: a random ID may look like another.
 */
final class Placeholders {
  private Placeholders() {}

  static String fill(String row, Map<String, String> values) {
    return Pattern.compile(String.join("|", values.keySet()))
        .matcher(row)
        .replaceAll(found -> Matcher.quoteReplacement(values.getOrDefault(found.group(), "")));
  }
}
