package dev.coatcheck.api.console.page;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A line over time, as a picture that the server draws: it needs no script, and a page that updates
 * itself gets a new picture.
 *
 * @param label what is drawn, with its unit, such as {@code rows a second}
 * @param values oldest first, at equal distances; NaN where nothing is known
 * @param span of time from the first value to the last
 * @param end the time of the last value; empty for now
 */
public record Chart(String label, List<Double> values, Duration span, Optional<Instant> end) {
  private static final int WIDTH = 560;
  private static final int HEIGHT = 120;
  private static final int TOP = 10;

  public Chart {
    values = List.copyOf(values);
  }

  int width() {
    return WIDTH;
  }

  /** With the line of text below the picture. */
  int height() {
    return HEIGHT + TOP + 20;
  }

  int baseY() {
    return HEIGHT + TOP;
  }

  int textY() {
    return height() - 4;
  }

  public boolean isEmpty() {
    return values.stream().allMatch(value -> value.isNaN());
  }

  /** The upper end of the scale: 1, 2 or 5 with zeros, and no less than the largest value. */
  double top() {
    double largest =
        values.stream().filter(value -> !value.isNaN()).mapToDouble(value -> value).max().orElse(0);
    if (largest <= 0) {
      return 1;
    }
    double unit = Math.pow(10, Math.floor(Math.log10(largest)));
    return IntStream.of(1, 2, 5, 10)
        .mapToDouble(times -> times * unit)
        .filter(end -> end >= largest)
        .findFirst()
        .orElse(10 * unit);
  }

  /** The scale's upper end in words. */
  String topText() {
    return written(top());
  }

  /** The last value in words, or an empty text. */
  public String last() {
    double last = values.isEmpty() ? Double.NaN : values.getLast();
    return Double.isNaN(last) ? "" : written(last);
  }

  /** How long before the last value the first one was. */
  String since() {
    return Display.duration(span) + (end.isPresent() ? " earlier" : " ago");
  }

  /** When the last value was. */
  String until() {
    return end.map(Display::time).orElse("now");
  }

  /** The picture in words. */
  public String description() {
    if (last().isEmpty()) {
      return label + ": no values yet";
    }
    return end.isPresent()
        ? label
            + ", "
            + Display.duration(span)
            + " up to "
            + until()
            + ": "
            + last()
            + " at the end"
        : label + ", the last " + Display.duration(span) + ": now " + last();
  }

  /** The line as the path of an SVG; a gap where nothing is known. */
  String path() {
    double scale = HEIGHT / top();
    return IntStream.range(0, values.size())
        .filter(i -> !values.get(i).isNaN())
        .mapToObj(
            i ->
                String.format(
                    Locale.ROOT,
                    "%s%.1f %.1f",
                    i == 0 || values.get(i - 1).isNaN() ? "M" : "L",
                    values.size() == 1 ? WIDTH : i * (double) WIDTH / (values.size() - 1),
                    baseY() - values.get(i) * scale))
        .collect(Collectors.joining());
  }

  private static String written(double value) {
    return value >= 10 || value == Math.rint(value)
        ? Display.number(Math.round(value))
        : String.format(Locale.ENGLISH, "%.2g", value);
  }
}
