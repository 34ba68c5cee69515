package dev.coatcheck.api.exchange;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** What a client prefers, by the quality values of RFC 9110. */
public final class ContentNegotiation {
  /** Ranges of a header that are looked at; browsers send about ten. */
  private static final int RANGES_MAX = 50;

  /** RFC 5646 has no longer language tag that is in use. */
  private static final int LANGUAGE_LENGTH_MAX = 35;

  private static final int QUALITY_MAX = 1_000;

  private ContentNegotiation() {}

  /**
   * A media range or a language range.
   *
   * @param quality in thousandths
   */
  private record Range(String name, int quality) {}

  /**
   * Whether a client prefers HTML to JSON, as browsers do. A client that says nothing, or takes
   * everything alike, does not.
   *
   * @param accept the values of the header Accept
   */
  public static boolean prefersHtml(List<String> accept) {
    List<Range> ranges = ranges(accept);
    return quality(ranges, "text/html", "text/*")
        > Math.max(
            quality(ranges, "application/json", "application/*"),
            quality(ranges, "application/problem+json", "application/*"));
  }

  /** The quality of a media type: the most specific range decides. */
  private static int quality(List<Range> ranges, String type, String typeRange) {
    for (String name : List.of(type, typeRange, "*/*")) {
      int quality = -1;
      for (Range range : ranges) {
        if (range.name.equalsIgnoreCase(name)) {
          quality = Math.max(quality, range.quality);
        }
      }
      if (quality >= 0) {
        return quality;
      }
    }
    return 0;
  }

  /**
   * Looks up the language that a client asks for first, as in RFC 4647: {@code de-AT} finds {@code
   * de}. Empty if it asks for none of them.
   *
   * @param acceptLanguage the values of the header Accept-Language
   */
  public static Optional<String> language(
      List<String> acceptLanguage, Collection<String> languages) {
    return ranges(acceptLanguage).stream()
        .filter(range -> range.quality > 0 && range.name.length() <= LANGUAGE_LENGTH_MAX)
        .sorted(Comparator.comparingInt(Range::quality).reversed())
        .flatMap(range -> lookup(range.name, languages).stream())
        .findFirst();
  }

  private static Optional<String> lookup(String range, Collection<String> languages) {
    for (String rest = range; !rest.isEmpty(); rest = shorter(rest)) {
      String wanted = rest;
      Optional<String> found =
          languages.stream().filter(language -> language.equalsIgnoreCase(wanted)).findFirst();
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  /** Without the last subtag, and without a single letter before it, which only introduces it. */
  private static String shorter(String range) {
    String rest = range.substring(0, Math.max(0, range.lastIndexOf('-')));
    return rest.length() > 1 && rest.charAt(rest.length() - 2) == '-'
        ? rest.substring(0, rest.length() - 2)
        : rest;
  }

  private static List<Range> ranges(List<String> values) {
    List<Range> ranges = new ArrayList<>();
    for (String value : values) {
      for (String range : value.split(",", RANGES_MAX + 1)) {
        if (ranges.size() == RANGES_MAX) {
          return ranges;
        }
        ranges.add(range(range));
      }
    }
    return ranges;
  }

  private static Range range(String text) {
    int end = text.indexOf(';');
    return end < 0
        ? new Range(text.strip(), QUALITY_MAX)
        : new Range(text.substring(0, end).strip(), qualityAmong(text.substring(end + 1)));
  }

  private static int qualityAmong(String parameters) {
    for (String each : parameters.split(";", -1)) {
      String parameter = each.strip();
      if (parameter.regionMatches(true, 0, "q=", 0, 2)) {
        return quality(parameter.substring(2).strip());
      }
    }
    return QUALITY_MAX;
  }

  /** A number from 0 to 1 with up to three decimals; anything else counts as 0. */
  private static int quality(String number) {
    int quality = 0;
    int unit = QUALITY_MAX;
    for (int i = 0; i < number.length(); i++) {
      char c = number.charAt(i);
      if (i == 1 ? c != '.' : c < '0' || c > '9' || unit == 0) {
        return 0;
      }
      if (i != 1) {
        quality += (c - '0') * unit;
        unit /= 10;
      }
    }
    return quality <= QUALITY_MAX ? quality : 0;
  }
}
